// The results as Markdown.
'use strict';

const os = require('node:os');

const { CAPABILITY_CELLS, capabilityKey } = require('./plan.cjs');
const { verdicts } = require('./targets.cjs');

const RPCS = [
  'CreateVolume',
  'NodeStageVolume',
  'NodePublishVolume',
  'NodeGetVolumeStats',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'DeleteVolume',
];

function number(value) {
  if (value === undefined) return '–';
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function times(ratio) {
  return ratio === undefined ? '–' : `${number(ratio)}×`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

/** One number per variant, and each in proportion to the first: the peer, or without one the first of ours. */
function comparison(samples, names, what, rows) {
  const [first, ...others] = names;
  const body = rows.map(([label, key]) => [
    label,
    ...names.map((name) => number(samples.median(name, key))),
    ...others.map((name) => times(samples.ratio(name, first, key))),
  ]);
  return table([what, ...names, ...others.map((name) => `${name} : ${first}`)], body);
}

function latencyTable(samples, names, at) {
  const cells = (rpc, name) =>
    ['p50', 'p99'].map((p) => number(samples.median(name, `${p}/${rpc}/${at}`))).join(' / ');
  const body = RPCS.map((rpc) => [rpc, ...names.map((name) => cells(rpc, name))]);
  return table([`ms, p50 / p99`, ...names], body);
}

function targetTable(samples, plan) {
  const word = (met) => (met === null ? '–' : met ? 'yes' : '**no**');
  const rows = verdicts(samples, plan).map(({ text, bound, measured, met }) => [
    text,
    bound,
    measured,
    word(met),
  ]);
  return table(['target', 'to reach', 'measured', 'met'], rows);
}

function machine(load) {
  const cpus = os.cpus();
  return `${cpus.length} × ${cpus[0].model.trim()}, Linux ${os.release()}, Node ${process.version}; load average before the run ${load.toFixed(1)}`;
}

/** @returns {string} the whole report. `peerProblem`: why there is no peer, or null. `load`: of the machine, before. */
function report({ samples, plan, variants, peer, peerProblem, load }) {
  const all = variants.map(({ name }) => name);
  const names = variants.filter(({ bare }) => !bare).map(({ name }) => name);
  const grid = (key, label) =>
    plan.levels.flatMap((level) =>
      plan.concurrencies.map((c) => [`${level} published, ${label}${c}`, `${key}/${level}/c${c}`]),
    );
  const most = plan.levels.at(-1);
  const parts = [
    `Medians of ${plan.rounds} interleaved round${plan.rounds > 1 ? 's' : ''} with ${plan.repeats} turn${plan.repeats > 1 ? 's' : ''} of each cell of cycles, ${plan.seconds} s a turn, volumes of 16 MiB; ratios are medians of each turn's. ${machine(load)}.`,
    ...(plan.judges ? [] : ['A quick run shows that the bench works. It judges nothing.']),
    variants.map(({ name, what }) => `* \`${name}\`: ${what}`).join('\n'),
    peerProblem === null
      ? `The peer is ${peer}.`
      : `**No peer was measured**, so every ratio to hostpath is missing: ${peerProblem}`,
    ...(plan.judges ? [`### Targets\n\n${targetTable(samples, plan)}`] : []),
    `### Volume cycles per second\n\n${comparison(samples, names, 'CreateVolume … DeleteVolume, seven calls', grid('cycles', 'c='))}`,
    `### CPU per cycle\n\nThe driver and its reaped children, ms. Kernel threads (loop devices, ext4's journals) are in nobody's count.\n\n${comparison(samples, names, 'ms', grid('cpu', 'c='))}`,
    ...plan.levels.flatMap((level) =>
      plan.concurrencies.map(
        (c) => `### Latency, ${level} published, c=${c}\n\n${latencyTable(samples, names, `${level}/c${c}`)}`,
      ),
    ),
    `### Memory and start\n\n${comparison(samples, all, '', [
      ...plan.levels.map((level) => [`RSS, ${level} published, after the cycles, MiB`, `rss/${level}`]),
      [`RSS, ${most} published, restarted, MiB`, `rss-restarted/${most}`],
      ['exec to first Probe after SIGKILL, none published, ms', 'restart/0'],
      [`exec to first Probe after SIGKILL, ${most} published, ms`, `restart/${most}`],
      ['CPU of that, none published, ms', 'restart-cpu/0'],
      [`CPU of that, ${most} published, ms`, `restart-cpu/${most}`],
    ])}`,
    `### NodeGetCapabilities per second\n\n${comparison(
      samples,
      all,
      '',
      CAPABILITY_CELLS.map((cell) => [
        `${cell.fresh ? 'fresh connection per call' : 'kept connection'}, c=${cell.concurrency}`,
        capabilityKey(cell),
      ]),
    )}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

module.exports = { report };
