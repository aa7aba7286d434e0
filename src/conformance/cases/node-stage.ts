import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { mount, NO_FILESYSTEM } from '../capability';
import { casesOf } from '../case';
import { at } from '../scratch';

export const nodeStage = casesOf('Node.NodeStageVolume', [
  {
    id: 'NS2',
    level: 'must',
    section: 'NodeStageVolume Errors',
    title: 'the same volume and path with another capability: ALREADY_EXISTS',
    run: async (probe) => {
      const modes = [mount(), mount({ mode: 'SINGLE_NODE_READER_ONLY' })];
      const staged = await probe.stage(await probe.volume({ volume_capabilities: modes }));
      const volume_capability = modes[1] ?? null;
      await probe.refused('NodeStageVolume', probe.staging(staged, { volume_capability }), 'ALREADY_EXISTS');
    },
  },
  {
    id: 'NS3',
    level: 'must',
    section: 'NodeStageVolume Errors',
    title: 'a capability that the volume cannot serve: FAILED_PRECONDITION',
    run: async (probe) => {
      const attached = await probe.attached(await probe.volume());
      const request = probe.staging(attached, { volume_capability: mount({ fsType: NO_FILESYSTEM }) });
      await probe.refused('NodeStageVolume', request, 'FAILED_PRECONDITION');
    },
  },
  {
    id: 'NS4',
    level: 'must',
    section: 'NodeStageVolumeRequest',
    title: 'a relative staging_target_path: INVALID_ARGUMENT',
    run: async (probe) => {
      const attached = await probe.attached(await probe.volume());
      const request = probe.staging(attached, { staging_target_path: 'some/staging' });
      await probe.refused('NodeStageVolume', request, 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'NS5',
    level: 'decision',
    section: 'NodeStageVolumeRequest',
    title:
      "a staging_target_path that is not there, or is a file: refused, and not made (it is the CO's to make)",
    run: async (probe) => {
      const attached = await probe.attached(await probe.volume());
      const absent = path.join(attached.staging, 'absent');
      await probe.refused(
        'NodeStageVolume',
        probe.staging(attached, { staging_target_path: absent }),
        'any refusal',
      );
      probe.that((await at(absent)) === undefined, 'the staging path not to be made', 'something there');
      const file = path.join(attached.staging, 'file');
      await fs.writeFile(file, 'content');
      await probe.refused(
        'NodeStageVolume',
        probe.staging(attached, { staging_target_path: file }),
        'any refusal',
      );
      probe.same(await fs.readFile(file, 'utf8'), 'content', 'the file');
    },
  },
  {
    id: 'NS7',
    level: 'decision',
    section: 'NodeStageVolumeRequest',
    title: 'a volume that is staged, at a second path: refused, since the CO promises one path for a volume',
    run: async (probe) => {
      const staged = await probe.stage(await probe.volume());
      const staging_target_path = await probe.scratch.folder();
      await probe.refused('NodeStageVolume', probe.staging(staged, { staging_target_path }), 'any refusal');
    },
  },
  {
    id: 'NS1',
    level: 'must',
    section: 'NodeStageVolume',
    title: 'the same call again: OK',
    run: async (probe) => {
      const staged = await probe.stage(await probe.volume());
      await probe.ok('NodeStageVolume', probe.staging(staged), 'it is staged there already');
    },
  },
  {
    id: 'NS8',
    level: 'must',
    section: 'NodeStageVolume Errors',
    title: 'an unknown volume: NOT_FOUND',
    run: async (probe) => {
      const attached = await probe.attached(await probe.volume());
      const request = probe.staging(attached, { volume_id: 'conformance-unknown-volume' });
      await probe.refused('NodeStageVolume', request, 'NOT_FOUND');
    },
  },
]);
