import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { DriverProcess } from '../../support/driver-process';
import { useMachine } from '../../support/machine';
import { finish, type Subject } from './moves';
import { SCENARIOS, type Scenario, WAYS, type Way } from './scenarios';
import { leftIn, subjectOf } from './subjects';

const machine = useMachine();

const cases = SCENARIOS.flatMap((scenario) => scenario.points.map((point) => ({ ...scenario, point })));

let names = 0;
let child: DriverProcess;
afterEach(() => child.kill());

async function goOn(way: Way, scenario: Scenario, driver: TestDriver, subject: Subject): Promise<void> {
  if (way === 'repeats the call') {
    await scenario.call(driver, subject);
    await scenario.go(driver, subject);
  } else if (way === 'undoes it') {
    await scenario.undo(driver, subject);
  } else if (subject.used.id !== '') {
    // In use: refused and nothing happened. Not in use: gone.
    const refused = await driver.csi.DeleteVolume({ volume_id: subject.used.id }).then(
      () => undefined,
      (error) => error,
    );
    if (refused) expect(refused).toMatchObject({ code: Code.FAILED_PRECONDITION });
  }
}

describe.each(cases)('killed in $title at $point', ({ point, ...scenario }) => {
  it('the driver is right with whatever the CO does next', async () => {
    const dataDir = path.join(machine.folder('d'), 'data');
    child = await DriverProcess.start({
      root: machine.root,
      dataDir,
      hold: { method: scenario.method, point },
      capabilities: 'all',
      refuseGrowth: scenario.refuseGrowth === true,
    });
    const plans: { way: Way; subject: Subject }[] = [];
    for (const kind of scenario.kinds)
      for (const way of WAYS) plans.push({ way, subject: await subjectOf(child, kind, `crash-${names++}`) });
    await Promise.all(plans.map(({ subject }) => scenario.prepare(child, subject)));
    await child.arm();
    const calls = plans.map(({ subject }) => scenario.call(child, subject).catch((error) => error));
    const early = calls.map(async (call, index) => {
      throw new Error(`the call for ${plans[index]?.subject.name} never came to ${point}: ${await call}`);
    });
    await Promise.race([child.reached(plans.length), ...early]);
    await child.kill();
    await Promise.allSettled(early);
    for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ code: Code.UNAVAILABLE });

    const driver = await machine.start({ dataDir });
    const goOnWith = async ({ way, subject }: (typeof plans)[number]) => {
      const step = `${subject.kind.name}: the CO ${way}`;
      try {
        await goOn(way, scenario, driver, subject);
        for (const at of [subject.used.staging, subject.used.target])
          expect((await machine.mountsAt(at)).length).toBeLessThanOrEqual(1);
        await finish(driver, subject);
      } catch (error) {
        throw new Error(`${step}: ${(error as Error).message}`, { cause: error });
      }
    };
    await Promise.all(plans.map(goOnWith));
    expect(await leftIn(dataDir)).toEqual([]);
    await driver.stop();
    expect(machine.loops(dataDir)).toEqual([]);
    expect(await machine.table()).toBe('');
  });
});
