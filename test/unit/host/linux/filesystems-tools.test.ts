import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import {
  createToolRunner,
  lastWords,
  type RunTool,
  type ToolName,
} from '../../../../src/host/linux/filesystems-tools';

let folder: string;
let runTool: RunTool;

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-csi-tools-'));
  runTool = createToolRunner(`${folder}:/usr/bin:/bin`);
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

/** A program of that name that is found before the real one. */
function install(tool: ToolName, script: string): void {
  fs.writeFileSync(path.join(folder, tool), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

const TIMEOUT = 10_000;

test('a tool that fails gives its own last line, not its usage', async () => {
  install(
    'mkfs.xfs',
    'echo "Filesystem must be larger than 300MB." >&2; echo "Usage: mkfs.xfs" >&2; echo more >&2; exit 1',
  );
  await expect(runTool('mkfs.xfs', { args: ['x'], timeoutMs: TIMEOUT })).rejects.toMatchObject({
    errno: 'TOOL',
    operation: 'mkfs.xfs',
    message: 'mkfs.xfs exited with 1: Filesystem must be larger than 300MB.',
  });
});

test('output without end is capped, and its last line still known', async () => {
  install(
    'resize2fs',
    'i=0; while [ $i -lt 3000 ]; do echo "line $i of much output, over and over"; i=$((i+1)); done; exit 3',
  );
  await expect(runTool('resize2fs', { args: [], timeoutMs: TIMEOUT })).rejects.toMatchObject({
    message: 'resize2fs exited with 3: line 2999 of much output, over and over',
  });
});

test('exit codes named as success are success, others are not', async () => {
  install('e2fsck', 'exit $1');
  const run = (code: number) =>
    runTool('e2fsck', { args: [String(code)], timeoutMs: TIMEOUT, success: [0, 1, 2] });
  await expect(run(0)).resolves.toBeUndefined();
  await expect(run(2)).resolves.toBeUndefined();
  await expect(run(4)).rejects.toMatchObject({ errno: 'TOOL', message: 'e2fsck exited with 4' });
});

test.each<[ToolName, string]>([
  ['mkfs.ext4', 'e2fsprogs'],
  ['mkfs.xfs', 'xfsprogs'],
  ['mkfs.btrfs', 'btrfs-progs'],
])('%s that is not there is ENOENT and names %s', async (tool, name) => {
  const missing = createToolRunner(folder)(tool, { args: [], timeoutMs: TIMEOUT });
  await expect(missing).rejects.toMatchObject({
    errno: 'ENOENT',
    message: `${tool} is not installed here; install the package ${name}`,
  });
});

test('a tool that does not end is killed', async () => {
  const alive = path.join(folder, 'alive');
  execFileSync('mkfifo', [alive]);
  install('mkfs.btrfs', `exec 3>${alive}; exec sleep 60`);
  // Ends when the last process that holds the other end is gone.
  const gone = fs.promises.readFile(alive);
  await expect(runTool('mkfs.btrfs', { args: ['disk'], timeoutMs: 1500 })).rejects.toMatchObject({
    errno: 'TIMEOUT',
    message: 'mkfs.btrfs did not finish within 1500 ms and was killed (disk)',
  });
  expect((await gone).length).toBe(0);
});

test('an open file is passed on as descriptor 3', async () => {
  install('mkfs.ext4', 'echo formatted > /proc/self/fd/3');
  const file = path.join(folder, 'disk');
  const fd = fs.openSync(file, 'w+');
  try {
    await runTool('mkfs.ext4', { args: [], timeoutMs: TIMEOUT, fd });
  } finally {
    fs.closeSync(fd);
  }
  expect(fs.readFileSync(file, 'utf8')).toBe('formatted\n');
});

test.each([
  ['', ''],
  ['one\n\n  two  \n\n', 'two'],
  ['why\nusage: tool [options]\nmore\n', 'why'],
  ['usage: tool [options]\nmore\n', ''],
])('the last words of %j are %j', (output, words) => {
  expect(lastWords(output)).toBe(words);
});
