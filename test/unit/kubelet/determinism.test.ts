import * as fs from 'node:fs';
import * as path from 'node:path';
import { eventsText, jsonText, timelineText } from '../../../src/kubelet/timeline/formats';
import { ONE_POD, type Played, play, pod, rules } from './harness';

const everything = (played: Played) =>
  timelineText(played.timeline.entries) +
  eventsText(played.events) +
  jsonText(played.timeline, played.events, played.outcome);

const STEPS =
  'create; wait running; kubelet restart; advance 1m; driver restart; expand data 2Gi; advance 2m; node reboot; wait running; delete; wait clean';
const scenario = rules(
  "{name: slow, match: {rpc: NodeStageVolume}, sequence: '2*UNAVAILABLE(later) -> ok'}",
  '{name: late, match: {rpc: NodePublishVolume}, then: [{delay: {uniform: [1s, 9s]}}]}',
);

test('the same seed gives the same bytes', async () => {
  const manifests = ONE_POD + pod('second');
  const first = await play(manifests, STEPS, { scenario, seed: 7 });
  const second = await play(manifests, STEPS, { scenario, seed: 7 });
  expect(first.outcome.failure).toBeUndefined();
  expect(everything(second)).toBe(everything(first));
});

test.each(['block.yaml', 'ephemeral.yaml'])(
  'examples/%s: also where the kubelet itself binds',
  async (name) => {
    const manifests = fs.readFileSync(path.join(__dirname, '../../../examples', name), 'utf8');
    const told = async () => {
      const steps =
        'create; wait running within 30s; kubelet restart; advance 2m; node reboot; wait running; delete; wait clean';
      const played = await play(manifests, steps);
      expect(played.outcome.failure).toBeUndefined();
      return everything(played);
    };
    const first = await told();
    for (let again = 0; again < 3; again++) expect(await told()).toBe(first);
  },
);

test('another seed draws other uids and other pauses', async () => {
  const one = await play(ONE_POD, 'create; wait running', { seed: 1 });
  const two = await play(ONE_POD, 'create; wait running', { seed: 2 });
  const names = (played: Played) => played.rehearsal.cluster.api.volumes.all().map(({ meta }) => meta.name);
  expect(names(one)).not.toEqual(names(two));
});

test('no path of this machine is told', async () => {
  const played = await play(ONE_POD, 'create; wait running; delete; wait clean');
  expect(everything(played)).not.toMatch(/rehearse-|\/tmp\//);
});

test('an hour passes in a moment, and ends at its limit', async () => {
  const played = await play(ONE_POD, 'create; wait running; advance 60m');
  expect(played.timeline.elapsed).toBeGreaterThan(3_600_000);
  expect(played.outcome.passed).toBe(true);
});
