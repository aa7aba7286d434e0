import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { casesOf } from '../case';
import { at } from '../scratch';

export const nodeUnpublish = casesOf('Node.NodeUnpublishVolume', [
  {
    id: 'UP2',
    level: 'must',
    section: 'NodeUnpublishVolumeRequest',
    title: 'afterwards the target is gone and its parent is there',
    run: async (probe) => {
      const published = await probe.published();
      await probe.unpublish(published);
      probe.that((await at(published.target)) === undefined, 'nothing at target_path', 'something');
      probe.that((await at(path.dirname(published.target))) !== undefined, 'its parent', 'nothing');
    },
  },
  {
    id: 'UP3',
    level: 'must',
    section: 'NodeUnpublishVolumeRequest',
    title:
      "a path where the volume was never published and that holds others' files: OK, and they are still there",
    run: async (probe) => {
      const { id } = await probe.volume();
      const folder = await probe.scratch.folder();
      const file = path.join(folder, 'file');
      await fs.writeFile(file, 'content');
      await probe.ok(
        'NodeUnpublishVolume',
        { volume_id: id, target_path: folder },
        'it is not published there',
      );
      const found = await fs.readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => error.code);
      probe.same(found, 'content', 'the file');
    },
  },
  {
    id: 'UP5',
    level: 'decision',
    section: 'NodeUnpublishVolume Errors',
    title: 'an unknown volume: OK, or NOT_FOUND',
    run: async (probe) => {
      const target_path = await probe.scratch.target();
      const request = { volume_id: 'conformance-unknown-volume', target_path };
      const answer = await probe.call('NodeUnpublishVolume', request);
      if (answer.code !== 'OK') probe.isRefused(answer, 'NOT_FOUND');
    },
  },
  {
    id: 'UP1',
    level: 'must',
    section: 'NodeUnpublishVolume',
    title: 'again after it was unpublished: OK',
    run: async (probe) => {
      const published = await probe.published();
      await probe.unpublish(published);
      await probe.unpublish(published);
    },
  },
]);
