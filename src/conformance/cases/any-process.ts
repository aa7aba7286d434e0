import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { casesOf } from '../case';

export const anyProcess = casesOf('(any)', [
  {
    id: 'T21',
    level: 'decision',
    section: 'Available Services',
    needs: ['a command'],
    title:
      'a CSI_ENDPOINT of tcp://, or one that does not end in .sock: the process ends at once and says why',
    run: async (probe) => {
      for (const CSI_ENDPOINT of ['tcp://127.0.0.1:0', `unix://${probe.given.folder}/csi.socket`]) {
        const run = await probe.given.runDriver?.({ CSI_ENDPOINT });
        const what = `with CSI_ENDPOINT=${CSI_ENDPOINT}`;
        probe.that(run !== undefined, `the process to end ${what}`, 'it runs');
        probe.that(run?.code !== 0, `an exit code that is not 0 ${what}`, `${run?.code}`);
        probe.that((run?.stderr ?? '').trim() !== '', `a reason on stderr ${what}`, 'nothing');
      }
    },
  },
  {
    id: 'T22',
    level: 'must',
    section: 'Filesystem',
    title: "after a volume's life there is nothing beside the socket that was not there before",
    run: async (probe) => {
      const folder = path.dirname(probe.given.socket);
      const before = await fs.readdir(folder);
      const volume = await probe.volume();
      if (probe.facts.node) {
        const published = await probe.publish(await probe.stage(volume));
        await probe.unpublish(published);
        await probe.unstage(published);
        await probe.detach(published);
      }
      await probe.ok('DeleteVolume', { volume_id: volume.id });
      const added = (await fs.readdir(folder)).filter((name) => !before.includes(name));
      probe.same(added, [], `what came to be in ${folder}:`);
    },
  },
]);
