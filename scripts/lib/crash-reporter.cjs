// Jest's reporter for the crash matrix: says what was crossed with what, and how it went. Needs the TypeScript hook.
'use strict';

const path = require('node:path');

class CrashReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    const { SCENARIOS, WAYS } = require(path.join(__dirname, '../../test/integration/crash/scenarios.ts'));
    const points = SCENARIOS.reduce((sum, scenario) => sum + scenario.points.length, 0);
    const kinds = new Set(SCENARIOS.flatMap((scenario) => scenario.kinds.map(({ name }) => name)));
    const runs = SCENARIOS.reduce(
      (sum, scenario) => sum + scenario.points.length * scenario.kinds.length * WAYS.length,
      0,
    );
    console.log(
      `${points} points in ${SCENARIOS.length} calls × ${[...kinds].join(', ')} (where they come by) × ${WAYS.length} ways to go on: ${runs} volumes`,
    );
    console.log(
      `${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed (a point each)`,
    );
  }
}

module.exports = CrashReporter;
