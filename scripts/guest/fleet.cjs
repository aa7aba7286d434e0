// Spreads units of work over machines. The tests of one machine must run one at a time (they compare the lists of mounts
// and loop devices), so two machines are what makes use of two cores.
'use strict';

const os = require('node:os');
const path = require('node:path');

const { MEMORY_MIB, runMachine } = require('./machine.cjs');

/** All bits of the capabilities that Linux 6.1 knows; the last is CAP_CHECKPOINT_RESTORE, number 40. */
const EVERY_CAPABILITY = (1n << 41n) - 1n;

/** As many machines as there are cores and memory for, and work to do. */
function machineCount(units) {
  const byMemory = Math.floor(os.freemem() / 2 ** 20 / MEMORY_MIB);
  return Math.max(1, Math.min(units.length, os.availableParallelism(), byMemory, 4));
}

/** Which capabilities are missing in a guest, as a sentence; null when none is. */
function capabilityProblem(capEff) {
  const missing = EVERY_CAPABILITY & ~BigInt(`0x${capEff}`);
  return missing === 0n ? null : `the guest's root lacks capabilities: 0x${missing.toString(16)}`;
}

/**
 * Runs all units.
 * @param {object} parts what every machine is made of; see runMachine.
 * @param {{ units: object[], scratch: string, live: boolean, say: (line: string) => void }} job `live`: output is shown as
 *   it comes; otherwise a unit's output is shown in one piece at its end, for two of them would mix.
 * @returns {Promise<{ ended: Map<string, object>, problems: string[], consoleLogs: string[] }>} the agent's event `ended`
 *   of each unit that has one, and what went wrong with machines.
 */
async function runUnits(children, parts, { units, scratch, live, say }) {
  const queue = [...units];
  const ended = new Map();
  const problems = [];
  const consoleLogs = [];
  const buffered = new Map();

  const oneMachine = async (number) => {
    const consoleLog = path.join(scratch, `console-${number}.log`);
    consoleLogs.push(consoleLog);
    const work = {
      take: () => queue.shift(),
      booted({ release, capEff, uptime }) {
        say(`machine ${number}: Linux ${release}, booted in ${uptime.toFixed(1)} s, CapEff ${capEff}`);
        const problem = capabilityProblem(capEff);
        if (problem !== null) problems.push(problem);
      },
      output({ unit }, data) {
        if (live) process.stdout.write(data);
        else buffered.set(unit, (buffered.get(unit) ?? '') + data);
      },
      ended({ unit }, event) {
        ended.set(unit, event);
        if (live) return;
        say(`machine ${number}: ${unit} ended after ${event.seconds.toFixed(1)} s`);
        console.log((buffered.get(unit) ?? '').trimEnd());
        buffered.delete(unit);
      },
    };
    try {
      await runMachine(children, { ...parts, scratch, consoleLog }, work);
    } catch (error) {
      problems.push(`machine ${number}: ${error.message}`);
    }
  };

  await Promise.all(Array.from({ length: machineCount(units) }, (_, i) => oneMachine(i + 1)));
  for (const [unit, output] of buffered)
    console.log(`${unit}, which did not end, wrote:\n${output.trimEnd()}`);
  return { ended, problems, consoleLogs };
}

module.exports = { runUnits };
