import * as fs from 'node:fs/promises';
import { casesOf } from '../case';
import { at } from '../scratch';

export const nodeUnstage = casesOf('Node.NodeUnstageVolume', [
  {
    id: 'NU1',
    level: 'must',
    section: 'NodeUnstageVolume',
    title: 'never staged, again after it was unstaged, at another path: OK each',
    run: async (probe) => {
      const never = await probe.volume();
      const staging_target_path = await probe.scratch.folder();
      await probe.ok(
        'NodeUnstageVolume',
        { volume_id: never.id, staging_target_path },
        'it was never staged',
      );
      const staged = await probe.stage(await probe.volume());
      await probe.unstage(staged);
      await probe.unstage(staged);
      await probe.ok('NodeUnstageVolume', { volume_id: staged.id, staging_target_path }, 'it is not there');
    },
  },
  {
    id: 'NU3',
    level: 'decision',
    section: 'RPC Interactions and Reference Counting',
    title: 'while the volume is published: refused, and nothing is taken down',
    run: async (probe) => {
      const published = await probe.published();
      const request = { volume_id: published.id, staging_target_path: published.staging };
      await probe.refused('NodeUnstageVolume', request, 'any refusal');
      await probe.ok(
        'NodePublishVolume',
        probe.publication(published, published.target),
        'the volume is staged and published as before',
      );
      probe.that((await at(published.target)) !== undefined, 'the target to be there', 'nothing');
    },
  },
  {
    id: 'NU4',
    level: 'decision',
    section: 'NodeStageVolumeRequest',
    title: 'afterwards the staging folder is there, and empty',
    run: async (probe) => {
      const staged = await probe.stage(await probe.volume());
      await probe.unstage(staged);
      const entries = await fs.readdir(staged.staging).catch((error: NodeJS.ErrnoException) => error.code);
      probe.same(entries, [], 'what is in the staging folder:');
    },
  },
]);
