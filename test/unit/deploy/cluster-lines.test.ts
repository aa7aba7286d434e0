import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { KUBELET_VERSIONS } from '../../../src/kubelet/versions';
import { everyKept, lineOf } from '../../support/golden/kept';
import { ROOT } from '../../support/manifests';

const { LINE_NAMES, lineFolder } = require('../../../scripts/lib/cluster/lines.cjs') as {
  LINE_NAMES: readonly string[];
  lineFolder(line: string, name: string): string;
};

test('the lines of Kubernetes are those that a rehearsal knows', () => {
  expect(LINE_NAMES).toEqual([...KUBELET_VERSIONS]);
});

test.each(LINE_NAMES)(
  'Kubernetes %s is pinned, with all its staging modules at releases of that line',
  (line) => {
    const text = fs.readFileSync(path.join(lineFolder(line, 'kubernetes'), 'go.mod'), 'utf8');
    expect(text).toMatch(new RegExp(`^\\tk8s\\.io/kubernetes v${line}\\.\\d+$`, 'm'));
    const replaced = [...text.matchAll(/^\tk8s\.io\/(\S+) => k8s\.io\/(\S+) v0\.(\d+)\.\d+\b/gm)];
    expect(replaced.length).toBeGreaterThan(25);
    for (const [, module, by, minor] of replaced)
      expect({ module: by, line: `1.${minor}` }).toEqual({ module, line });
  },
);

test('what another line did as the usual one is kept once', () => {
  for (const kind of ['golden', 'seen'] as const) {
    const all = everyKept(kind);
    const lines = all.map(({ name, versions }) => versions.map((version) => `${name} ${lineOf(version)}`));
    expect(new Set(lines.flat()).size).toBe(lines.flat().length);
    const texts = all.map(({ name, text }) => `${name}\n${text}`);
    expect(new Set(texts).size).toBe(texts.length);
  }
});

test.each([
  ['cluster', ['up', '--kubernetes', '1.30']],
  ['cluster', ['build', '--kubernetes', '1.30']],
  ['e2e', ['--kubernetes', '1.30']],
])('npm run %s -- %j names the lines that there are', (script, words) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [path.join(ROOT, `scripts/${script}.cjs`), ...words],
    {
      encoding: 'utf8',
    },
  );
  expect({ status, said: stderr.split('\n')[0] }).toEqual({
    status: 2,
    said: expect.stringMatching(/^\w+: .*--kubernetes: expected one of 1\.32, 1\.36, found "1\.30"$/),
  });
});
