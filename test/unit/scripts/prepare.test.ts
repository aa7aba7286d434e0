import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';

const { build } = require('../../../scripts/lib/prepare.cjs') as {
  build(root: string, how: { say(line: string): void; children: unknown }): Promise<void>;
};
const { Children } = require('../../../scripts/lib/process.cjs') as { Children: new () => unknown };
const { NODE_FLAGS } = require('../../../scripts/lib/node-flags.cjs') as { NODE_FLAGS: string[] };

const CHECKOUT = path.join(__dirname, '../../..');

describe('npm run build', () => {
  const root = fs.mkdtempSync(path.join(tmpdir(), 'fc-prepare-'));
  const main = path.join(root, 'dist/cli/main.js');
  const said: string[] = [];
  const buildIt = () => build(root, { say: (line) => said.push(line), children: new Children() });

  beforeAll(async () => {
    fs.symlinkSync(path.join(CHECKOUT, 'node_modules'), path.join(root, 'node_modules'));
    for (const name of ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
      fs.cpSync(path.join(CHECKOUT, name), path.join(root, name), { recursive: true });
    // A build's time is in whole milliseconds: what was saved in its first one is taken for newer.
    const copied = Date.now();
    while (Date.now() <= copied + 1);
    await buildIt();
  }, 300_000);

  afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

  /** What an expression of `bundle` is, in a process of its own with the driver's flags. */
  function ofBundle(expression: string, flags = NODE_FLAGS): unknown {
    const file = path.join(root, 'dist/cli/serve-bundle.js');
    const program = `const bundle = require(${JSON.stringify(file)}).serveBundle(); console.log(JSON.stringify(${expression}))`;
    return JSON.parse(execFileSync(process.execPath, [...flags, '-e', program], { encoding: 'utf8' }));
  }

  test('what was built can be run by its name, which npm links before it is there', () => {
    expect(said).toEqual(['building']);
    expect(execFileSync(main, ['--version'], { encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('is not done again when nothing has changed', async () => {
    await buildIt();
    expect(said).toHaveLength(1);
  });

  test('has V8 compile the bundle of serve, so that a start takes its code', () => {
    expect(ofBundle('bundle.script.cachedDataRejected')).toBe(false);
    expect(ofBundle('Object.keys(bundle.load())')).toEqual(['serveAlone']);
  });

  test('a Node with other flags refuses that code, and runs the bundle all the same', () => {
    expect(ofBundle('bundle.script.cachedDataRejected', ['--max-semi-space-size=1'])).toBe(true);
    expect(ofBundle('Object.keys(bundle.load())', ['--max-semi-space-size=1'])).toEqual(['serveAlone']);
  });

  test('serve is the bundle, until the compiler runs without it', () => {
    const script = path.join(root, 'dist/cli/serve.bundle.js');
    fs.appendFileSync(
      script,
      '\nmodule.exports.serveAlone = () => ({ parse: () => console.log("the bundle") });\n',
    );
    const serve = () => execFileSync(main, ['serve', '--help'], { encoding: 'utf8' });
    expect(serve()).toBe('the bundle\n');
    const later = new Date(Date.now() + 1_000);
    fs.utimesSync(path.join(root, 'dist/.tsbuildinfo'), later, later);
    expect(serve()).toContain('--node-id');
    fs.utimesSync(script, later, later);
    expect(serve()).toBe('the bundle\n');
    fs.rmSync(script);
    expect(serve()).toContain('--node-id');
  });
});
