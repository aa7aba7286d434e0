import * as path from 'node:path';
import { createMemoryHost } from '../../../../src/host/memory';
import { Timeline } from '../../../../src/journal/timeline';
import type { ExpectationTest } from '../../../../src/scenarios/model';
import { verify } from '../../../../src/scenarios/verdict/verify';
import { systemClock } from '../../../../src/util/clock';
import { TestDriver } from '../../../support/driver';
import { createVolume, publish, stage } from '../../../support/lifecycle';
import { count, expectation, patterns, select } from './story';

let driver: TestDriver;
beforeEach(async () => {
  driver = await TestDriver.start({ backend: 'memory', host: createMemoryHost() });
});
afterEach(() => driver.close());

const tests: ExpectationTest[] = [
  {
    kind: 'count',
    calls: select(['NodeStageVolume'], { code: patterns('OK'), volume: { parameters: {} } }),
    count: count('>=2'),
    withinMs: undefined,
    since: undefined,
  },
  {
    kind: 'order',
    calls: [select(['CreateVolume']), select(['NodeStageVolume']), select(['NodePublishVolume'])],
  },
  { kind: 'eventually', volume: undefined, state: 'published', withinMs: undefined },
  { kind: 'idempotent', calls: select(['NodeStageVolume']) },
  { kind: 'overlap', calls: select(['NodeStageVolume']) },
];

describe('a verdict on a driver that runs', () => {
  it('comes as soon as the driver has done what was expected', async () => {
    const timeline = new Timeline({ folder: path.join(driver.dataDir, 'journal'), clock: systemClock });
    const verdict = verify({
      expectations: tests.map((test) => expectation(test)),
      timeline,
      clock: systemClock,
      waitMs: 60_000,
    });
    const id = await createVolume(driver);
    const used = await stage(driver, id);
    await stage(driver, id);
    await publish(driver, used);
    const { passed, results } = await verdict;
    expect(results.map(({ status, summary }) => [status, summary])).toEqual([
      ['passed', expect.stringContaining('2 calls')],
      ['passed', 'in this order for 1 volume'],
      ['passed', '1 volume came to be published'],
      ['passed', '2 calls, 1 repeat answered alike'],
      ['passed', '2 calls, one at a time'],
    ]);
    expect(passed).toBe(true);
  });
});
