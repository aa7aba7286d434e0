import * as path from 'node:path';
import { mount, NO_FILESYSTEM } from '../capability';
import { casesOf } from '../case';
import { at } from '../scratch';
import { secondPublishCases } from './node-publish-again';

export const nodePublish = casesOf('Node.NodePublishVolume', [
  {
    id: 'NP03',
    level: 'must',
    section: 'NodePublishVolume Errors',
    title: 'an unknown volume: NOT_FOUND',
    run: async (probe) => {
      const staged = await probe.stage(await probe.volume());
      const volume_id = 'conformance-unknown-volume';
      const request = probe.publication(staged, await probe.scratch.target(), { volume_id });
      await probe.refused('NodePublishVolume', request, 'NOT_FOUND');
    },
  },
  ...secondPublishCases,
  {
    id: 'NP12',
    level: 'decision',
    section: 'NodePublishVolumeRequest',
    title: "the parent of target_path is not there: refused, and not made (it is the CO's to make)",
    run: async (probe) => {
      const staged = await probe.stage(await probe.volume());
      const parent = path.join(await probe.scratch.folder(), 'absent');
      const request = probe.publication(staged, path.join(parent, 'target'));
      await probe.refused('NodePublishVolume', request, 'any refusal');
      probe.that((await at(parent)) === undefined, 'the parent not to be made', 'something there');
    },
  },
  {
    id: 'NP13',
    level: 'must',
    section: 'NodePublishVolumeRequest',
    title: 'the target of a mount volume is a folder, that of a block volume is none',
    run: async (probe) => {
      const mounted = await probe.published();
      const folder = await at(mounted.target);
      probe.that(
        folder?.isDirectory() === true,
        'a folder at target_path',
        folder ? 'something else' : 'nothing',
      );
      const block = await probe.publish(await probe.stage(await probe.blockVolume()));
      const device = await at(block.target);
      probe.that(
        device !== undefined && !device.isDirectory(),
        'a device or a file at target_path',
        device ? 'a folder' : 'nothing',
      );
    },
  },
  {
    id: 'NP14',
    level: 'decision',
    section: 'NodePublishVolume',
    needs: ['hint failingPublish'],
    title: 'it fails after a part of its work: nothing is left at target_path',
    run: async (probe) => {
      const parameters = probe.parameters(probe.hints.failingPublish);
      const staged = await probe.stage(await probe.volume({ parameters }));
      const target = await probe.scratch.target();
      await probe.refused('NodePublishVolume', probe.publication(staged, target), 'any refusal');
      probe.that((await at(target)) === undefined, 'nothing at target_path', 'something');
    },
  },
  {
    id: 'NP15',
    level: 'must',
    section: 'NodePublishVolume Errors',
    title: 'a capability that the volume cannot serve: FAILED_PRECONDITION',
    run: async (probe) => {
      const staged = await probe.stage(await probe.volume());
      const request = probe.publication(staged, await probe.scratch.target(), {
        volume_capability: mount({ fsType: NO_FILESYSTEM }),
      });
      await probe.refused('NodePublishVolume', request, 'FAILED_PRECONDITION');
    },
  },
  {
    id: 'NP17',
    level: 'must',
    section: 'VolumeCapability.MountVolume',
    needs: ['node.VOLUME_MOUNT_GROUP'],
    title:
      'volume_mount_group: the target belongs to the group where it is a mount, and another group is another call',
    run: async (probe) => {
      const GROUP = 4321;
      const capability = mount({ group: `${GROUP}` });
      const published = await probe.published({ capability });
      const [parent, target] = [await at(path.dirname(published.target)), await at(published.target)];
      // Another device than its parent: something is mounted there, and not only told of.
      if (target?.dev !== parent?.dev) probe.same(target?.gid, GROUP, 'group of the target');
      const volume_capability = mount({ group: '1234' });
      const again = probe.publication(published, published.target, { volume_capability });
      await probe.refused('NodePublishVolume', again, 'ALREADY_EXISTS');
    },
  },
  {
    id: 'NP02',
    level: 'must',
    section: 'NodePublishVolume Errors',
    needs: ['node.STAGE_UNSTAGE_VOLUME'],
    title: 'no staging_target_path, where volumes are staged: FAILED_PRECONDITION, and no target',
    run: async (probe) => {
      const staged = await probe.stage(await probe.volume());
      const target = await probe.scratch.target();
      const request = probe.publication(staged, target, { staging_target_path: '' });
      await probe.refused('NodePublishVolume', request, 'FAILED_PRECONDITION');
      probe.that((await at(target)) === undefined, 'nothing at target_path', 'something');
    },
  },
  {
    id: 'NP04',
    level: 'must',
    section: 'NodePublishVolumeRequest',
    title: 'a capability that is absent or empty, a relative target_path: INVALID_ARGUMENT',
    run: async (probe) => {
      const staged = await probe.stage(await probe.volume());
      const target = await probe.scratch.target();
      for (const fields of [
        { volume_capability: null },
        { volume_capability: {} },
        { target_path: 'some/target' },
      ])
        await probe.refused(
          'NodePublishVolume',
          probe.publication(staged, target, fields),
          'INVALID_ARGUMENT',
        );
    },
  },
]);
