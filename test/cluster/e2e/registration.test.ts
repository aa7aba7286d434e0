import * as fs from 'node:fs';
import { readSeen, withoutNames, writeFailuresPage, writeSeen } from '../../support/golden/seen';
import { isRegistered, replaceNodePlugin } from './stage/driver-pods';
import { controlOf, kubernetesVersion, type RealCluster } from './stage/real-cluster';
import { Scene } from './stage/scene';

const update = process.env.FAKE_CSI_GOLDEN === 'update';

/** Long enough for a few tries of the kubelet: 0.5 s, 1 s, 2 s … */
const WATCH_MS = 25_000;
/** Its longest backoff is 2m2s. */
const HEAL_MS = 180_000;

const CASES = [
  { scenario: 'registration-late', knob: 'R1' },
  { scenario: 'registration-dead-socket', knob: 'R2' },
  { scenario: 'registration-unsupported-version', knob: 'R3' },
  { scenario: 'registration-wrong-type', knob: 'R4' },
  { scenario: 'node-info-fails', knob: 'R5' },
  { scenario: 'node-id-empty', knob: 'R5' },
  { scenario: 'topology-collision', knob: 'R5' },
  { scenario: 'registration-refused', knob: 'R6' },
  { scenario: 'registration-second-owner', knob: 'R7' },
  { scenario: 'registration-socket-gone', knob: 'R8' },
  { scenario: 'registration-flap', knob: 'R9' },
  { scenario: 'wrong-driver-name', knob: 'R10' },
  { scenario: 'node-limit-shrinks', knob: 'R12' },
] as const;

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.open('registration');
});
afterAll(async () => {
  await scene?.close();
  if (update) writeFailuresPage();
});

/**
 * What kept the kubelet from registering it: each message once, times and ids taken out. Whether it comes to see the name
 * under which the socket is bound, before it has its own, is chance.
 */
function logSince(cluster: RealCluster, bytes: number): string[] {
  const text = fs.readFileSync(cluster.layout.log('kubelet')).subarray(bytes).toString('utf8');
  const lines = text
    .split('\n')
    .filter((line) => /^[EW]/.test(line) && /plugins_registry|RegisterPlugin/.test(line))
    .filter((line) => !line.includes('/plugins_registry/.'));
  const said = lines.map((line) => {
    // `Operation for "…" failed. No retries permitted until …. Error: what it was`
    const why = / Error: (.*)$/.exec(line)?.[1] ?? line.replace(/^.*?\] /, '');
    return `kubelet log: ${withoutNames(why, scene.namespace)}`;
  });
  return [...new Set(said)].sort();
}

describe.each(CASES)('$knob $scenario', ({ scenario, knob }) => {
  it('is met by the kubelet as before, and heals', async () => {
    const { cluster } = scene;
    const control = await controlOf(cluster);
    const bytes = fs.statSync(cluster.layout.log('kubelet')).size;
    await control.arm(scenario);
    const lines: string[] = [];
    try {
      await replaceNodePlugin(scene);
      await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
      const is = (await isRegistered(cluster)) ? 'is' : 'is not';
      lines.push(`after ${WATCH_MS / 1000} s the driver ${is} in CSINode`, ...logSince(cluster, bytes));
    } finally {
      await (await controlOf(cluster)).disarm(scenario);
    }
    await replaceNodePlugin(scene);
    await scene.until('the driver registered again', () => isRegistered(cluster), HEAL_MS);
    lines.push('without the scenario: it is registered again');
    const version = await kubernetesVersion(cluster);
    if (update) writeSeen({ scenario, knob, lines }, version);
    expect(lines).toEqual(readSeen(scenario, version));
  });
});
