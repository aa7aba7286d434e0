import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { DiskCondition } from '../../../src/scenarios/model';
import { DriverProcess } from '../../support/driver-process';
import { KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, mountCapability, publish, stage } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let child: DriverProcess;
afterEach(() => child.kill());

const { ext4, xfs, btrfs } = KINDS;
const cases: [DiskCondition, Kind, string, boolean][] = [
  [{ kind: 'foreignFs', fsType: 'ext4' }, xfs, 'attached', false],
  [{ kind: 'foreignFs', fsType: 'vfat' }, ext4, 'noted', false],
  [{ kind: 'dirtyLog' }, ext4, 'attached', true],
  [{ kind: 'dirtyLog' }, btrfs, 'attached', false],
  [{ kind: 'duplicateUuid' }, ext4, 'mounted', false],
  [{ kind: 'duplicateUuid' }, xfs, 'attached', false],
  [{ kind: 'missing' }, ext4, 'beforeAttach', false],
  [{ kind: 'readOnlyDevice' }, ext4, 'attached', false],
];

it.each(cases)('%j of %j, killed at %s', async (condition, kind, point, readOnly) => {
  const dataDir = path.join(machine.folder('d'), 'data');
  child = await DriverProcess.start({
    root: machine.root,
    dataDir,
    hold: { method: 'NodeStageVolume', point },
    capabilities: 'all',
    refuseGrowth: false,
    condition,
  });
  const id = await createVolume(child, { ...kind.options(), name: 'killed' });
  const used = await stage(child, id, kind.options());
  await publish(child, used);
  await writeMark(kind, used, 'kept');
  await child.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
  await child.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
  await child.csi.ControllerUnpublishVolume({ volume_id: id });

  await child.arm();
  const mode = readOnly ? 'SINGLE_NODE_READER_ONLY' : 'SINGLE_NODE_WRITER';
  const fsType = kind.options().capability?.mount?.fs_type ?? '';
  const call = stage(child, id, { capability: mountCapability({ fsType, mode }) }).catch((error) => error);
  await Promise.race([
    child.reached(1),
    call.then((outcome) => Promise.reject(new Error(`never came to ${point}: ${outcome}`))),
  ]);
  await child.kill();
  expect(await call).toMatchObject({ code: Code.UNAVAILABLE });

  const driver = await machine.start({ dataDir });
  expect(await fs.readdir(path.join(dataDir, 'nodes/node-1/undo'))).toEqual([]);
  const mounted = (await machine.host.mounts.list()).filter(({ mountPoint }) =>
    mountPoint.startsWith(dataDir),
  );
  expect(mounted).toEqual([]);
  await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
  await driver.csi.ControllerUnpublishVolume({ volume_id: id });
  expect(machine.loops(dataDir)).toEqual([]);
  const again = await stage(driver, id, kind.options());
  await publish(driver, again);
  expect(await readMark(kind, again)).toBe('kept');
  await dispose(driver, again);
  expect(machine.loops(dataDir)).toEqual([]);
});
