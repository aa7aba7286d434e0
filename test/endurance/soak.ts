import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { Draws } from './draws';
import { leftovers, removeAll } from './leftovers';
import { Service } from './service';
import { Users } from './users';

/** Volumes at a time. */
const VOLUMES = 12;
const LAP_MS = 20_000;
/** Laps of one life of the driver: memory and descriptors are compared within it. */
const LAPS_OF_A_LIFE = 4;
/** Idle connections and the files of a write under way come and go; what leaks grows with the calls. */
const DESCRIPTORS_MORE = 10;
/** The journal keeps its last 10,000 entries in memory, and Node frees memory late. */
const MOST_RSS = 256 * 2 ** 20;

const CHAOS = path.join(__dirname, 'chaos.yaml');
const MIB = 2 ** 20;

/** What the driver holds when all volumes are gone. */
interface Rest {
  readonly lap: number;
  readonly life: number;
  readonly calls: number;
  readonly rss: number;
  readonly descriptors: number;
  readonly left: readonly string[];
  /** Of the data folder without the journal, whose size is bounded by itself. */
  readonly diskBytes: number;
}

function bytesOf(dir: string): number {
  const said = execFileSync('du', ['-s', '--block-size=1', `--exclude=${dir}/journal`, dir], {
    encoding: 'utf8',
  });
  return Number(said.split('\t')[0]);
}

async function restOf(dir: string, service: Service, users: Users, lap: number, life: number): Promise<Rest> {
  return {
    lap,
    life,
    calls: users.tally.calls,
    rss: service.rss,
    descriptors: service.descriptors,
    left: await leftovers(dir),
    diskBytes: bytesOf(path.join(dir, 'data')),
  };
}

/** What leaked, a line each: against the first rest of the same life, and of the run. */
function leaks(rests: readonly Rest[]): string[] {
  const found: string[] = [];
  const [start] = rests;
  for (const rest of rests) {
    const first = rests.find(({ life }) => life === rest.life) as Rest;
    const at = `lap ${rest.lap}`;
    for (const line of rest.left) found.push(`${at}: left behind: ${line}`);
    if (rest.descriptors > first.descriptors + DESCRIPTORS_MORE)
      found.push(`${at}: ${rest.descriptors} file descriptors, ${first.descriptors} in lap ${first.lap}`);
    if (rest.rss > MOST_RSS) found.push(`${at}: ${Math.round(rest.rss / MIB)} MiB of memory`);
    if (start && rest.diskBytes > start.diskBytes + MIB)
      found.push(`${at}: ${rest.diskBytes} bytes of disk, ${start.diskBytes} in lap ${start.lap}`);
  }
  return found;
}

const row = ({ lap, life, calls, rss, descriptors, left, diskBytes }: Rest) =>
  `lap ${lap}, life ${life}: ${calls} calls so far; at rest ${(rss / MIB).toFixed(0)} MiB, ${descriptors} descriptors, ` +
  `${left.length} left behind, ${(diskBytes / 1024).toFixed(0)} KiB of disk`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: `${Date.now() % 1e6}` },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes: expected a number above 0, found "${values.minutes}"`);
  const draws = new Draws(Number(values.seed));
  // Short: the socket's path must stay below 108 bytes.
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'soak-'));
  const start = () => Service.start(dir, ['--log-level', 'warn', '--scenario', CHAOS]);
  const rests: Rest[] = [];
  const problems: string[] = [];
  let service = await start();
  const users = new Users(draws.fork(), VOLUMES, () => service);
  const end = Date.now() + minutes * 60_000;
  console.log(
    `seed ${values.seed}: ${minutes} minutes, ${VOLUMES} volumes at a time, faults of ${path.basename(CHAOS)}`,
  );
  try {
    for (let lap = 1, life = 1; Date.now() < end; lap++) {
      const over = Date.now() + LAP_MS;
      users.fill();
      await users.goOn(() => Date.now() > over);
      // In the midst of things, and in turn as a node is drained and as it crashes.
      const restarts = lap % LAPS_OF_A_LIFE === 0;
      if (restarts) {
        const going = users.goOn(() => service.gone);
        await service.end(life % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
        await going;
        service.close();
        service = await start();
        life += 1;
      }
      await users.finish();
      const rest = await restOf(dir, service, users, lap, life);
      console.log(row(rest));
      rests.push(rest);
    }
    problems.push(...leaks(rests));
    await service.end('SIGTERM');
    problems.push(...(await leftovers(dir)).map((line) => `after the end: ${line}`));
  } catch (error) {
    problems.push(`seed ${values.seed}: ${(error as Error).message}`);
  } finally {
    await service.end('SIGKILL');
    await removeAll(dir);
  }
  for (const problem of problems) console.error(problem);
  const { calls, cutOff, repeated, undone, verified } = users.tally;
  console.log(
    `${calls} calls, ${cutOff} failed on purpose or cut off, ${repeated} repeated, ${undone} undone, ${verified} files verified`,
  );
  console.log(`${rests.length} passed, ${problems.length} failed`);
  return problems.length > 0 ? 1 : 0;
}

main().then(
  (status) => process.exit(status),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
