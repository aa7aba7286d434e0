// Waiting for something that another process does.
'use strict';

const { setTimeout: sleep } = require('node:timers/promises');

/**
 * Asks again until the answer is not null, undefined or false.
 * @param {() => unknown} ask may be async.
 * @param {object} limits `what` is waited for, `ms` at most, looked at every `every` ms; `why()` adds to the error.
 * @throws Error when it did not come.
 */
async function until(ask, { what, ms, every = 200, why = () => '' }) {
  const deadline = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${ms / 1000} s${await why()}`);
    await sleep(every);
  }
}

module.exports = { until };
