// One run of the csi-sanity program, and what it says.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

/**
 * A whole suite takes seconds, in an emulated guest minutes; a hang would else last csi-sanity's own hour (its calls
 * have no deadline).
 */
const TIMEOUT = '20m';
const TIMEOUT_MS = 21 * 60_000;

/** States of a Ginkgo spec that mean it ran and did not pass. */
const FAILED = new Set(['failed', 'panicked', 'timedout', 'interrupted', 'aborted']);

/**
 * Reads a Ginkgo JSON report.
 * @returns {{ passed: number, skipped: number, failures: { name: string, spec: string, message: string }[] }}
 */
function readReport(file) {
  const specs = JSON.parse(fs.readFileSync(file, 'utf8'))
    .flatMap((suite) => suite.SpecReports)
    .filter((spec) => spec.LeafNodeType === 'It' || FAILED.has(spec.State));
  return {
    passed: specs.filter((spec) => spec.State === 'passed').length,
    skipped: specs.filter((spec) => spec.State === 'skipped').length,
    failures: specs
      .filter((spec) => FAILED.has(spec.State))
      .map((spec) => ({
        name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' '),
        spec: spec.LeafNodeText,
        message: spec.Failure?.Message ?? spec.State,
      })),
  };
}

/** csi-sanity's own last words: `Ran 95 of 96 Specs in …` and `SUCCESS! -- 95 Passed | 0 Failed | …`. */
function closingLines(output) {
  return output
    .split('\n')
    .filter((line) => /^Ran \d+ of \d+ Specs/.test(line) || /-- \d+ Passed/.test(line));
}

/**
 * Runs csi-sanity against a driver.
 * @param {string} folder a fresh one: the mount and staging folders in it must not exist (csi-sanity makes them).
 * @param {AbortSignal} abort the driver is gone; without one every spec would wait 60 s for a connection.
 * @returns {Promise<{ output: string, closing: string[], report: ReturnType<typeof readReport> | null }>} `report` is
 *   null when csi-sanity ended without writing one.
 */
async function runSuite(children, { binary, socket, folder, args, abort }) {
  const reportFile = path.join(folder, 'report.json');
  const { output } = await children.run(
    binary,
    [
      `-csi.endpoint=unix://${socket}`,
      `-csi.mountdir=${path.join(folder, 'mount')}`,
      `-csi.stagingdir=${path.join(folder, 'staging')}`,
      '--ginkgo.no-color',
      `--ginkgo.timeout=${TIMEOUT}`,
      `--ginkgo.json-report=${reportFile}`,
      ...args,
    ],
    { cwd: folder, timeoutMs: TIMEOUT_MS, abort },
  );
  return {
    output,
    closing: closingLines(output),
    report: fs.existsSync(reportFile) ? readReport(reportFile) : null,
  };
}

module.exports = { runSuite };
