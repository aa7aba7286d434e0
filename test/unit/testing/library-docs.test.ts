import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { transformSync } from '@swc/core';
import { type FakeCsi, startFakeCsi } from '../../../src';

const ROOT = path.join(__dirname, '../../..');
const text = readFileSync(path.join(ROOT, 'docs/library.md'), 'utf8');
const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
/** With imports: a test file of its own. Without: a piece of one, with `csi`. */
const files = blocks.filter((code) => code.includes('import '));
const pieces = blocks.filter((code) => !code.includes('import '));

const modules: Record<string, unknown> = {
  'fake-csi': require('../../../src'),
  'fake-csi/jest': require('../../../src/testing/jest'),
};

/** The component of the first example: as a kubelet, it tries again until it is answered OK. */
async function startMyComponent(endpoint: string): Promise<void> {
  const { connectCsi } = require('../../../src/csi/client') as typeof import('../../../src/csi/client');
  const client = connectCsi(endpoint.replace('unix://', ''));
  const volume_capability = { mount: {}, access_mode: { mode: 1 } } as const;
  const { volume } = await client.CreateVolume({ name: 'data', volume_capabilities: [volume_capability] });
  const volume_id = volume?.volume_id ?? '';
  const { publish_context } = await client.ControllerPublishVolume({
    volume_id,
    node_id: 'node-1',
    volume_capability,
  });
  const staging_target_path = path.join(path.dirname(endpoint.replace('unix://', '')), 'staging');
  mkdirSync(staging_target_path);
  const stage = () =>
    client.NodeStageVolume({ volume_id, staging_target_path, volume_capability, publish_context });
  await stage().catch(stage);
  client.close();
}

function javaScript(code: string): string {
  return transformSync(code, {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  }).code;
}

/** @param names what the code finds */
function run(code: string, names: Record<string, unknown>): unknown {
  const all = { require: (name: string) => modules[name] ?? require(name), exports: {}, ...names };
  return new Function(...Object.keys(all), code)(...Object.values(all));
}

test('the page has examples of both kinds', () => {
  expect(files.length).toBeGreaterThanOrEqual(3);
  expect(pieces.length).toBeGreaterThanOrEqual(6);
});

describe.each(files.map((code, i) => ({ code, i })))('file $i', ({ code }) => {
  run(javaScript(code), { startMyComponent, test, expect, beforeAll, afterAll, afterEach });
});

describe('pieces', () => {
  let csi: FakeCsi;

  beforeEach(async () => {
    csi = await startFakeCsi();
  });

  afterEach(() => csi.stop());

  test.each(pieces.map((code) => ({ code, title: code.split('\n')[0] })))('$title', async ({ code }) => {
    const said: string[] = [];
    const console = { log: (value: unknown) => said.push(String(value)) };
    await run(`return (${javaScript(`(async () => {${code}})`).replace(/^"use strict";|;\s*$/g, '')})()`, {
      csi,
      console,
    });
    const printed = [...code.matchAll(/^console\.log\(.*\);(?: \/\/ (.*))?$/gm)].map(([, value]) => value);
    expect(said.map((value, i) => printed[i] && value)).toEqual(printed);
  });
});

test('every example is right for the compiler', () => {
  const folder = mkdtempSync(path.join(ROOT, 'node_modules/.library-docs-'));
  try {
    for (const [i, code] of files.entries())
      writeFileSync(
        path.join(folder, `file-${i}.ts`),
        `${code}
export {};
`,
      );
    for (const [i, code] of pieces.entries())
      writeFileSync(
        path.join(folder, `piece-${i}.ts`),
        `import type { FakeCsi } from 'fake-csi';
export async function piece(csi: FakeCsi) {
${code}
}
`,
      );
    writeFileSync(
      path.join(folder, 'component.d.ts'),
      'declare function startMyComponent(endpoint: string): Promise<void>;\n',
    );
    writeFileSync(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: path.join(ROOT, 'tsconfig.json'),
        compilerOptions: {
          noEmit: true,
          noUnusedLocals: false,
          paths: {
            'fake-csi': [path.join(ROOT, 'src/index.ts')],
            'fake-csi/jest': [path.join(ROOT, 'src/testing/jest.ts')],
          },
        },
        include: [path.join(folder, '*.ts')],
      }),
    );
    expect(compile(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** What the compiler says of the files in a folder. */
function compile(folder: string): string[] {
  const { stdout } = spawnSync(
    path.join(ROOT, 'node_modules/.bin/tsc'),
    ['-p', folder, '--pretty', 'false'],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  );
  return stdout.split('\n').filter((line) => /^(file|piece)-/.test(line) || line.startsWith('error'));
}
