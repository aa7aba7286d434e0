import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = path.join(__dirname, '../../..');

function files(folder: string): Record<string, string> {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(folder, file), fs.readFileSync(file, 'utf8')]),
  );
}

test('src/csi/gen is what scripts/generate-types.cjs makes of proto/ (if not: npm run generate)', () => {
  const out = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-csi-gen-'));
  try {
    execFileSync(process.execPath, [path.join(root, 'scripts/generate-types.cjs'), '--out', out]);
    const generated = files(out);
    const checkedIn = files(path.join(root, 'src/csi/gen'));
    expect(Object.keys(generated)).toContain('schema.ts');
    expect(Object.keys(checkedIn).sort()).toEqual(Object.keys(generated).sort());
    const differing = Object.keys(generated).filter((name) => generated[name] !== checkedIn[name]);
    expect(differing).toEqual([]);
  } finally {
    fs.rmSync(out, { recursive: true });
  }
}, 30_000);

test('an argument that the generator does not know is refused before anything is deleted', () => {
  const run = () =>
    execFileSync(process.execPath, [path.join(root, 'scripts/generate-types.cjs'), '--output', 'x'], {
      stdio: 'pipe',
    });
  expect(run).toThrow(/expected no argument or --out <folder>, found: --output x/);
});
