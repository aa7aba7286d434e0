import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createMemoryHost } from '../../../src/host/memory';
import type { FaultGate } from '../../../src/server/gate';
import { explore } from '../../model/explore';
import { groundOf } from '../../model/grounds';
import type { Step } from '../../model/operations';
import type { TestDriverOptions } from '../../support/driver';
import { scenarioText } from '../../support/scenario-driver';

/** Every trial begins with a new driver. */
jest.setTimeout(180_000);

/** A driver that is spoilt on purpose, and what the model has to say of it. */
async function verdictOn(driver: Partial<TestDriverOptions>) {
  const machine = { host: createMemoryHost(), backend: 'memory', driver } as const;
  const { failure } = await explore(machine, groundOf('memory'), { seed: 7, runs: 200 });
  if (!failure) throw new Error('expected a failure, found none');
  return failure;
}

const calls = (steps: readonly Step[]) =>
  steps.flatMap((step) =>
    step.kind === 'call'
      ? [step.operation.rpc]
      : step.kind === 'together'
        ? step.operations.map(({ rpc }) => rpc)
        : [],
  );

/** Answers OK to a method and does nothing. */
function idle(method: string): FaultGate {
  return {
    before: async (call) => (call.method === method ? ({} as never) : undefined),
    after: async (_call, response) => response,
    point: async () => undefined,
  };
}

test('a DeleteVolume that deletes nothing is shown with one volume, when that is taken down', async () => {
  const { message, steps, replay } = await verdictOn({ faults: idle('DeleteVolume') });
  expect(calls(steps)).toEqual(['CreateVolume']);
  expect(message).toMatch(/DeleteVolume.* -> OK\n[\s\S]*ListVolumes.*entries: expected \[\]/);
  expect(replay).toMatch(/seed 7, path \d/);
});

test('a NodePublishVolume that mounts nothing is shown by what is not mounted', async () => {
  const { message, steps } = await verdictOn({ faults: idle('NodePublishVolume') });
  expect(calls(steps)).toContain('NodePublishVolume');
  expect(steps.length).toBeLessThanOrEqual(4);
  expect(message).toMatch(/mounts: expected \[.*t\d.*\], found|NodePublishVolume.*expected \w+.*, found OK/);
});

test('a DeleteVolume that one time in three does nothing while another call runs is shown with few calls', async () => {
  let running = 0;
  let times = 0;
  const { message, steps } = await verdictOn({
    faults: {
      before: async (call) => {
        running += 1;
        // Whoever is sent in the same moment has arrived by then.
        await new Promise(setImmediate);
        const isLost = call.method === 'DeleteVolume' && running > 1 && ++times % 3 === 0;
        return isLost ? ({} as never) : undefined;
      },
      after: async (_call, response) => response,
      point: async () => undefined,
      ended: () => {
        running -= 1;
      },
    },
  });
  expect(calls(steps)).toEqual(expect.arrayContaining(['CreateVolume', 'DeleteVolume']));
  expect(steps.length).toBeLessThanOrEqual(4);
  expect(message).toMatch(/\| .*DeleteVolume.* -> OK/);
});

test('a listing that loses its last entry is shown with one volume', async () => {
  const { steps } = await verdictOn({
    faults: {
      before: async () => undefined,
      after: async (call, response) => {
        if (call.method !== 'ListVolumes') return response;
        const { entries } = response as { entries: unknown[] };
        return { ...response, entries: entries.slice(0, -1) };
      },
      point: async () => undefined,
    },
  });
  expect(calls(steps)).toEqual(['CreateVolume']);
});

test('a scenario that reports a size of its own is shown as what it is', async () => {
  const folder = await fs.mkdtemp(path.join(tmpdir(), 'fake-csi-model-'));
  try {
    const file = path.join(folder, 'smaller.yaml');
    const rule =
      '  rules:\n    - match: {rpc: ControllerExpandVolume}\n      then:\n        - respond: {merge: {capacity_bytes: 1}}';
    await fs.writeFile(file, scenarioText('smaller', rule));
    const { message, steps } = await verdictOn({ scenarios: [file] });
    expect(calls(steps)).toEqual(['CreateVolume', 'ControllerExpandVolume']);
    expect(message).toMatch(/ControllerExpandVolume.*size: expected .*, found "1"/);
  } finally {
    await fs.rm(folder, { recursive: true });
  }
});
