import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { usePlayedFolders } from '../../support/played-folder';

const played = usePlayedFolders();

test('without permission for a part of it', async () => {
  const { root, volume } = await played();
  fs.chmodSync(root, 0o755);
  const code = `
    const { inspectFolder } = require(${JSON.stringify(path.resolve('src/kubelet/inspect/inspect.ts'))});
    const { MountTable } = require(${JSON.stringify(path.resolve('src/kubelet/inspect/mount-table.ts'))});
    // After everything is compiled: nobody may write what is compiled.
    process.setgid(65534); process.setuid(65534);
    const seen = inspectFolder({ root: ${JSON.stringify(root)}, version: '1.36', mounts: new MountTable([], () => undefined), mountsOf: 'none' });
    process.stdout.write(JSON.stringify(seen.findings));`;
  for (const folder of [path.dirname(path.dirname(volume)), path.join(root, 'pods')])
    fs.chmodSync(folder, 0o755);
  fs.chmodSync(path.dirname(volume), 0o700);
  const out = execFileSync(process.execPath, [
    '-r',
    path.resolve('test/support/typescript-hook.cjs'),
    '-e',
    code,
  ]).toString();
  expect(JSON.parse(out)).toContainEqual(
    expect.objectContaining({ code: 'unreadable', text: 'permission denied' }),
  );
});
