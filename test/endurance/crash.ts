import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { POINTS } from '../../src/scenarios/points';
import { Draws } from './draws';
import { leftovers, removeAll } from './leftovers';
import { Service } from './service';
import { Users } from './users';

/** Volumes at a time; calls that one kill can cut off. */
const VOLUMES = 12;
/** A point that no call comes by in this time is not waited for any longer. */
const LONGEST_LIFE_MS = 6000;
const SHORTEST_LIFE_MS = 20;

/** How a life of the driver ends: at a named point of some call, or at any moment. */
type Death = { at: string; scenario: string } | { afterMs: number };

function drawDeath(draws: Draws): Death {
  if (draws.chance(0.4)) return { afterMs: SHORTEST_LIFE_MS + draws.below(1500) };
  const [method, points] = draws.one(Object.entries(POINTS));
  const point = draws.one([...(points ?? []), 'after']);
  const nth = 1 + draws.below(4);
  return {
    at: `${method} at ${point}`,
    scenario: [
      'apiVersion: fake-csi/v1',
      'kind: Scenario',
      'metadata: {name: the-end}',
      'spec:',
      '  rules:',
      `  - {name: r, match: {rpc: ${method}}, when: {per: rule, nth: ${nth}}, then: [{at: ${point}}, {process: {exit: 137}}]}`,
      '',
    ].join('\n'),
  };
}

/** One life of the driver, from its start to its death. @returns whether it died where it was meant to. */
async function live(
  dir: string,
  death: Death,
  users: Users,
  serve: (service: Service) => void,
): Promise<boolean> {
  const options = ['--log-level', 'warn'];
  if ('scenario' in death) {
    const file = path.join(dir, 'end.yaml');
    fs.writeFileSync(file, death.scenario);
    options.push('--scenario', file);
  }
  const service = await Service.start(dir, options);
  serve(service);
  users.fill();
  const late = setTimeout(
    () => void service.end('SIGKILL'),
    'scenario' in death ? LONGEST_LIFE_MS : death.afterMs,
  );
  try {
    await users.goOn(() => service.gone);
    return true;
  } finally {
    clearTimeout(late);
    await service.end('SIGKILL');
    service.close();
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      lives: { type: 'string', default: '100' },
      seed: { type: 'string', default: `${Date.now() % 1e6}` },
    },
  });
  const draws = new Draws(Number(values.seed));
  // Short: the socket's path must stay below 108 bytes.
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'crash-'));
  let service: Service | undefined;
  const users = new Users(draws.fork(), VOLUMES, () => service as Service);
  const deaths = new Map<string, number>();
  let life = 0;
  let failed = 0;
  console.log(`seed ${values.seed}: ${values.lives} lives of one driver, ${VOLUMES} volumes at a time`);
  try {
    for (; life < Number(values.lives); life++) {
      const death = drawDeath(draws);
      const name = 'at' in death ? death.at : 'any moment';
      deaths.set(name, (deaths.get(name) ?? 0) + 1);
      await live(dir, death, users, (started) => {
        service = started;
      });
      if ((life + 1) % 25 === 0) console.log(`${life + 1} lives, ${users.tally.cutOff} calls cut off`);
    }
    service = await Service.start(dir, ['--log-level', 'warn']);
    await users.finish();
    await service.end('SIGTERM');
    const left = await leftovers(dir);
    if (left.length > 0) throw new Error(`left behind:\n  ${left.join('\n  ')}`);
  } catch (error) {
    failed = 1;
    console.error(`in life ${life + 1}, seed ${values.seed}: ${(error as Error).message}`);
  } finally {
    await service?.end('SIGKILL');
    await removeAll(dir);
  }
  const { calls, cutOff, repeated, undone, verified } = users.tally;
  console.log(
    `${life} lives (${deaths.size} kinds of death), ${calls} calls, ${cutOff} cut off, ${repeated} repeated, ${undone} undone, ${verified} files verified`,
  );
  console.log(`${life - failed} passed, ${failed} failed`);
  return failed;
}

main().then(
  (status) => process.exit(status),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
