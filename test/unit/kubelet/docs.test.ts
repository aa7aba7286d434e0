import * as fs from 'node:fs';
import * as path from 'node:path';
import { rehearse } from '../../../src/embedded/rehearse';
import { parseSteps } from '../../../src/kubelet/steps/grammar';

// Each plays minutes of a cluster's life, on machines that have more to do.
jest.setTimeout(120_000);

const root = path.join(__dirname, '../../..');
const DEFAULT_STEPS = 'create; wait running; delete; wait clean';

interface DocumentedCommand {
  readonly line: string;
  readonly passes: boolean;
}

/** Commands in fenced blocks. Those that are to fail say so with `# exit 1`. */
function commandsOf(file: string): DocumentedCommand[] {
  const text = fs.readFileSync(path.join(root, 'docs', file), 'utf8');
  return [...text.matchAll(/```\n([\s\S]*?)```/g)]
    .flatMap(([, block = '']) => block.split('\n'))
    .filter((line) => line.startsWith('fake-csi rehearse '))
    .map((line) => ({ line: line.replace(/\s+# exit 1$/, ''), passes: !line.endsWith('# exit 1') }));
}

function parse(line: string) {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const option = (name: string) => {
    const at = words.indexOf(`--${name}`);
    return at < 0 ? undefined : words[at + 1];
  };
  const inRoot = (name: string | undefined) => (name === undefined ? [] : [path.join(root, name)]);
  return {
    manifests: inRoot(words[2]),
    scenarios: inRoot(option('scenario')),
    steps: parseSteps(option('steps') ?? DEFAULT_STEPS),
    version: option('kubelet') === '1.32' ? ('1.32' as const) : ('1.36' as const),
    seed: Number(option('seed') ?? 1),
    endpoint: undefined,
    rootDir: undefined,
    driverName: undefined,
    capabilities: undefined,
    print: undefined,
  };
}

describe.each(['volume-manager.md', 'rehearsal.md'])('docs/%s', (file) => {
  test.each(commandsOf(file))('$line', async ({ line, passes }) => {
    const { outcome } = await rehearse(parse(line));
    expect({ line, passed: outcome.passed, failure: passes ? outcome.failure : undefined }).toEqual({
      line,
      passed: passes,
      failure: undefined,
    });
  });
});
