// What is measured in one round, in which order.
'use strict';

const path = require('node:path');

const { Agent } = require('./agent.cjs');

/** Bytes of a volume. */
const SIZE = 16 * 1024 * 1024;

/**
 * `levels`: how many volumes stand published beside the cycles. `seconds`: of each measured cell. `warm`: cycles that
 * a new process does before anything is measured, since a driver is started once and asked for weeks, and Node compiles what it
 * has run a thousand times; `warmup`: cycles per worker before each cell. `repeats`: times that the drivers take turns at a cell of
 * cycles, since a shared machine is not the same from one minute to the next. `restarts`: by SIGKILL, at the first and the last
 * level. `judges`: long enough to hold the targets against.
 */
const PLANS = {
  full: {
    rounds: 3,
    levels: [0, 100, 1000],
    concurrencies: [1, 8, 32],
    seconds: 2,
    repeats: 3,
    warm: 1600,
    warmup: 3,
    restarts: 5,
    judges: true,
  },
  quick: {
    rounds: 1,
    levels: [0, 20],
    concurrencies: [1, 8],
    seconds: 0.7,
    repeats: 1,
    warm: 40,
    warmup: 3,
    restarts: 1,
    judges: false,
  },
};

/** Kept connection at three concurrencies, a fresh one per call at one: the kubelet's habit. */
const CAPABILITY_CELLS = [
  { concurrency: 1, fresh: false },
  { concurrency: 8, fresh: false },
  { concurrency: 32, fresh: false },
  { concurrency: 1, fresh: true },
  { concurrency: 8, fresh: true },
];

/** `list` turned by `by`: each driver is first, in the middle and last equally often. */
function turned(list, by) {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

function capabilityKey({ concurrency, fresh }) {
  return `capabilities/${fresh ? 'fresh' : 'kept'}/c${concurrency}`;
}

function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Collects numbers by variant and key, in the order of the turns, so that those of one turn have the same place. */
class Samples {
  #byVariant = new Map();

  add(variant, key, value) {
    const keys = this.#byVariant.get(variant.name) ?? new Map();
    this.#byVariant.set(variant.name, keys);
    keys.set(key, [...(keys.get(key) ?? []), value]);
  }

  /** Over all turns; undefined when it was not measured. */
  median(name, key) {
    const values = this.#byVariant.get(name)?.get(key);
    return values && medianOf(values);
  }

  /**
   * One variant to another: of each turn's ratio the median, so that what the machine did to both at that time is no
   * part of it. Undefined when a side was not measured.
   */
  ratio(name, other, key) {
    const values = this.#byVariant.get(name)?.get(key);
    const others = this.#byVariant.get(other)?.get(key);
    return values && others && medianOf(values.map((value, turn) => value / others[turn]));
  }
}

async function restart(agent, level, samples) {
  for (const { probeMs, cpuMs } of await agent.do('restart', { repeat: 1 })) {
    samples.add(agent.variant, `restart/${level}`, probeMs);
    samples.add(agent.variant, `restart-cpu/${level}`, cpuMs);
  }
}

async function cycles(agent, plan, level, concurrency, samples) {
  const { seconds, warmup } = plan;
  const found = await agent.do('cycles', { concurrency, seconds, warmup });
  const at = `${level}/c${concurrency}`;
  samples.add(agent.variant, `cycles/${at}`, found.perSecond);
  samples.add(agent.variant, `cpu/${at}`, found.cpuMs);
  for (const [rpc, { p50, p99 }] of Object.entries(found.rpcs)) {
    samples.add(agent.variant, `p50/${rpc}/${at}`, p50);
    samples.add(agent.variant, `p99/${rpc}/${at}`, p99);
  }
}

async function capabilities(agent, plan, cell, samples) {
  const found = await agent.do('capabilities', { ...cell, seconds: plan.seconds });
  samples.add(agent.variant, capabilityKey(cell), found.perSecond);
}

/** One round: new processes on empty folders, then level by level, driver by driver within each cell. */
async function runRound(children, { plan, round, variants, client, privateMounts, folder, say }, samples) {
  const agents = variants.map(
    (variant) =>
      new Agent(children, {
        client,
        variant,
        privateMounts,
        size: SIZE,
        dir: path.join(folder, `${round}-${variant.name}`),
      }),
  );
  let turn = round;
  const among = async (list, action) => {
    for (const agent of turned(list, turn++)) await action(agent);
  };
  const drivers = agents.filter(({ variant }) => !variant.bare);
  const each = (action) => among(drivers, action);
  /** One at a time, as turns: a machine that others share is not the same for long. */
  const restarts = async (level) => {
    for (let time = 0; time < plan.restarts; time++)
      await among(agents, (agent) => restart(agent, level, samples));
  };
  try {
    await among(agents, (agent) => agent.do('start'));
    await restarts(0);
    await each((agent) => agent.do('cycles', { concurrency: 8, seconds: 0.1, warmup: plan.warm / 8 }));
    for (const cell of CAPABILITY_CELLS)
      await among(agents, (agent) => capabilities(agent, plan, cell, samples));
    for (const level of plan.levels) {
      say(`round ${round + 1} of ${plan.rounds}: ${level} volumes published`);
      await each((agent) => agent.do('publish', { count: level }));
      for (const concurrency of plan.concurrencies) {
        for (let time = 0; time < plan.repeats; time++)
          await each((agent) => cycles(agent, plan, level, concurrency, samples));
      }
      await each(async (agent) =>
        samples.add(agent.variant, `rss/${level}`, (await agent.do('memory')).rssMiB),
      );
    }
    const last = plan.levels.at(-1);
    await restarts(last);
    await among(agents, async (agent) =>
      samples.add(agent.variant, `rss-restarted/${last}`, (await agent.do('memory')).rssMiB),
    );
    await each((agent) => agent.do('drain'));
    await among(agents, (agent) => agent.do('stop'));
  } finally {
    await Promise.all(agents.map((agent) => agent.end()));
  }
}

module.exports = { CAPABILITY_CELLS, PLANS, Samples, capabilityKey, runRound };
