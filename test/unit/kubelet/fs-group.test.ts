import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { applyFsGroup } from '../../../src/kubelet/csi/fs-group';
import type { VolumeSpec } from '../../../src/kubelet/volumemanager/spec';

const spec = { volumeHandle: 'vol-1' } as VolumeSpec;
const gid = process.getgid?.() ?? 0;

let target: string;
beforeEach(() => {
  target = fs.mkdtempSync(path.join(tmpdir(), 'fs-group-'));
  fs.chmodSync(target, 0o755);
});
afterEach(() => fs.rmSync(target, { recursive: true, force: true }));
const modeOf = (name = '.') => fs.lstatSync(path.join(target, name)).mode & 0o7777;

test('M15: files get the group’s bits, folders setgid, too; links are left as they are', () => {
  fs.mkdirSync(path.join(target, 'deep/er'), { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(target, 'deep/er/file'), '', { mode: 0o600 });
  fs.symlinkSync('nowhere', path.join(target, 'link'));
  const link = modeOf('link');
  applyFsGroup(target, gid, 'Always', spec);
  expect(modeOf('deep/er/file')).toBe(0o660);
  expect(modeOf('deep/er') & 0o2770).toBe(0o2770);
  expect(modeOf() & 0o2770).toBe(0o2770);
  expect(modeOf('link')).toBe(link);
});

test('M15: OnRootMismatch looks at the root alone', () => {
  fs.writeFileSync(path.join(target, 'file'), '', { mode: 0o600 });
  fs.chmodSync(target, 0o2775);
  fs.chownSync(target, process.getuid?.() ?? 0, gid);
  fs.chmodSync(target, 0o2775);
  applyFsGroup(target, gid, 'OnRootMismatch', spec);
  expect(modeOf('file')).toBe(0o600);
  fs.chmodSync(target, 0o755);
  applyFsGroup(target, gid, 'OnRootMismatch', spec);
  expect(modeOf('file')).toBe(0o660);
});

test('M15: what cannot be looked at ends it, and the mount is uncertain', () => {
  expect(() => applyFsGroup(path.join(target, 'gone'), gid, 'Always', spec)).toThrow(
    expect.objectContaining({
      errorClass: 'uncertain',
      message: expect.stringMatching(/^applyFSGroup failed for vol vol-1: .*lstat/),
    }),
  );
});
