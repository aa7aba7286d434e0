import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { ONE_POD, play } from '../unit/kubelet/harness';

/** A kubelet's folder as a rehearsal of one pod with one volume leaves it; gone after the test. */
export function usePlayedFolders(): () => Promise<{ root: string; volume: string }> {
  const made: string[] = [];
  afterEach(() => {
    for (const root of made.splice(0)) fs.rmSync(root, { recursive: true, force: true });
  });
  return async () => {
    const root = fs.mkdtempSync(path.join(fs.realpathSync(tmpdir()), 'fc-inspect-'));
    made.push(root);
    await play(ONE_POD, 'create; wait running', { rootDir: root });
    const [uid = ''] = fs.readdirSync(path.join(root, 'pods'));
    const csi = path.join(root, 'pods', uid, 'volumes/kubernetes.io~csi');
    return { root, volume: path.join(csi, fs.readdirSync(csi)[0] ?? '') };
  };
}
