import * as path from 'node:path';
import { Timeline } from '../../../src/journal/timeline';
import { parseScenarioFile } from '../../../src/scenarios/language';
import { verify } from '../../../src/scenarios/verdict/verify';
import { systemClock } from '../../../src/util/clock';
import { DriverProcess } from '../../support/driver-process';
import { galleryFile } from '../../support/gallery-files';
import { createVolume, dispose, mountCapability, publish, stage } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const options = { capability: mountCapability({ fsType: 'ext4' }) };

it('crash-mid-stage: the process is gone, its mount is found again, and it does not die a second time', async () => {
  const dataDir = path.join(machine.folder('d'), 'data');
  const start = () =>
    DriverProcess.start({
      root: machine.root,
      dataDir,
      hold: { method: '', point: '' },
      capabilities: 'all',
      refuseGrowth: false,
      scenarios: [galleryFile('crash-mid-stage')],
    });
  const first = await start();
  const id = await createVolume(first, options);
  const staging = await first.folder(`${id}-staging`);
  await expect(stage(first, id, options)).rejects.toMatchObject({ codeName: 'UNAVAILABLE' });
  expect(await first.exitCode()).toBe(137);
  expect(await machine.mountsAt(staging)).toHaveLength(1);

  const second = await start();
  try {
    // The same paths again, as the kubelet asks.
    const used = await stage(
      { csi: second.csi, folder: (n) => first.folder(n), target: (n) => first.target(n) },
      id,
      options,
    );
    expect(await machine.mountsAt(used.staging)).toHaveLength(1);
    await publish(second, used);
    await dispose(second, used);
  } finally {
    await second.kill();
  }
  const timeline = new Timeline({ folder: path.join(dataDir, 'journal'), clock: systemClock });
  const { results } = await verify({
    expectations: parseScenarioFile(galleryFile('crash-mid-stage')).scenarios[0]?.expect ?? [],
    scenario: 'crash-mid-stage',
    timeline,
    waitMs: 0,
    clock: systemClock,
  });
  // The volume is deleted by now, and leaks are seen by a driver that runs.
  const decided = results.filter(({ expectation }) => ['fired', 'count'].includes(expectation.kind));
  expect(decided.map(({ status, summary }) => `${status}: ${summary}`)).toEqual([
    'passed: rule die fired once, wanted >=1',
    expect.stringMatching(/^passed: 2 calls/),
    expect.stringMatching(/^passed: 1 call/),
  ]);
  const stages = await timeline.calls({ rpc: ['NodeStageVolume'] });
  expect(stages.map(({ code, lost }) => (lost ? 'lost' : code))).toEqual(['lost', 'OK']);
});
