import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import yargs from 'yargs';
import { BACKEND_NAMES } from '../../src/backends/backend';
import type { Host } from '../../src/host/host';
import { createLinuxHost } from '../../src/host/linux';
import { createMemoryHost } from '../../src/host/memory';
import { explore } from './explore';
import { groundOn } from './grounds';
import { show } from './operations';

const PROGRESS_MS = 10_000;

/** The long mode: as many calls as are asked for. @returns the exit code. */
export async function main(words: string[]): Promise<number> {
  const { calls, seed, backend, longest } = await yargs(words)
    .scriptName('model')
    .option('calls', { type: 'number', default: 100_000, describe: 'calls to make' })
    .option('seed', {
      type: 'number',
      default: Date.now() % 2 ** 31,
      describe: 'the same one gives the same sequences',
    })
    .option('backend', { choices: BACKEND_NAMES, default: 'memory' as const })
    .option('longest', { type: 'number', default: 40, describe: 'steps of a sequence' })
    .strict()
    .parse();
  const state = await fs.mkdtemp(path.join(tmpdir(), 'fc-model-'));
  const host: Host =
    backend === 'memory'
      ? createMemoryHost()
      : createLinuxHost({ stateDir: state, cacheDir: path.join(tmpdir(), 'fake-csi-test-cache') });
  const began = performance.now();
  let shown = began;
  const seconds = () => Math.max(1, Math.round((performance.now() - began) / 1000));
  console.log(`model: backend ${backend}, seed ${seed}, ${calls} calls`);
  try {
    const { tally, failure } = await explore({ host, backend }, await groundOn(host, backend, longest), {
      seed,
      runs: Number.MAX_SAFE_INTEGER,
      calls,
      progress(done) {
        if (performance.now() - shown < PROGRESS_MS) return;
        shown = performance.now();
        console.log(
          `${done.calls} calls, ${done.sequences} sequences, ${Math.round(done.calls / seconds())} a second`,
        );
      },
    });
    for (const [answer, count] of [...tally.answers].sort())
      console.log(`${String(count).padStart(9)} ${answer}`);
    if (failure)
      console.log(
        `${failure.message}\n${failure.replay}\nsteps: ${failure.steps.map(show).join('\n       ')}`,
      );
    const rate = Math.round(tally.calls / seconds());
    const failed = failure ? 1 : 0;
    console.log(
      `${tally.calls} calls, ${tally.sequences + failed} sequences, ${failed} failed (${seconds()} s, ${rate} a second)`,
    );
    return failed;
  } finally {
    await fs.rm(state, { recursive: true, force: true });
  }
}
