import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';

const { build } = require('../../../scripts/lib/prepare.cjs') as {
  build(root: string, how: { say(line: string): void; children: unknown }): Promise<void>;
};
const { Children } = require('../../../scripts/lib/process.cjs') as { Children: new () => unknown };

const nodeModules = path.join(__dirname, '../../../node_modules');

test('what was built can be run by its name, which npm links before it is there', async () => {
  const root = fs.mkdtempSync(path.join(tmpdir(), 'fc-prepare-'));
  try {
    fs.symlinkSync(nodeModules, path.join(root, 'node_modules'));
    fs.mkdirSync(path.join(root, 'src/cli'), { recursive: true });
    fs.writeFileSync(path.join(root, 'src/cli/main.ts'), '#!/usr/bin/env node\n');
    const compilerOptions = { rootDir: 'src', outDir: 'dist', types: [] };
    fs.writeFileSync(
      path.join(root, 'tsconfig.build.json'),
      JSON.stringify({ compilerOptions, include: ['src'] }),
    );
    const said: string[] = [];
    await build(root, { say: (line) => said.push(line), children: new Children() });
    expect(said).toEqual(['building (tsc)']);
    fs.accessSync(path.join(root, 'dist/cli/main.js'), fs.constants.X_OK);
    await build(root, { say: (line) => said.push(line), children: new Children() });
    expect(said).toHaveLength(1);
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
});
