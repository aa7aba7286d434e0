import { type Played, play } from './harness';

export const RUNNING = 'create; wait running; advance 15s';

export const driver = (spec: string) => `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: fake.csi.test}
spec: {${spec}}
---`;

export const INLINE = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: main, image: example.test/main, volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, csi: {driver: fake.csi.test, volumeAttributes: {size: 1Gi}}}]
---`;

/** When it was said first, in milliseconds; undefined: never. */
export const saidAt = ({ timeline }: Played, text: RegExp) =>
  timeline.entries.find((entry) => text.test(entry.text))?.at;

/** Operations on volumes that failed before that moment: what is not even tried has none. */
export const triedBefore = ({ timeline }: Played, moment: number) =>
  timeline.entries
    .filter(
      ({ kind, text, at }) => kind === 'backoff' && /^\w*(volume|device)\w* failed/.test(text) && at < moment,
    )
    .map(({ text }) => text);

export const why = ({ outcome }: Played) =>
  outcome.standings
    .map((standing) => [standing.what, standing.state, ...standing.why].join(' | '))
    .join('\n');

export async function passed(...told: Parameters<typeof play>): Promise<Played> {
  const played = await play(...told);
  expect(played.outcome.failure).toBeUndefined();
  return played;
}
