import { htmlText } from '../../../src/kubelet/timeline/html';
import { answers, ONE_POD, play } from './harness';

test('one page that asks nobody for anything, with a mark for each call, event and state', async () => {
  const scenario = answers('NodeStageVolume', '2*INTERNAL(<b>broken</b>) -> ok');
  const played = await play(ONE_POD, 'create; wait running', { scenario });
  const page = htmlText(played.timeline, played.outcome, 'pod.yaml & <friends>');
  expect(page).not.toMatch(/https?:|<script|src=|@import/);
  expect(page).toContain('<title>pod.yaml &#38; &#60;friends&#62;</title>');
  expect(page).not.toContain('<b>broken');
  const failed = played.calls.filter(({ code }) => code !== 'OK');
  expect(page.match(/<circle class="bad"/g)).toHaveLength(failed.length);
  expect(page.match(/<circle class="ok"/g)).toHaveLength(played.calls.length - failed.length);
  expect(page.match(/<path class="wait"/g)).toHaveLength(2);
  expect(page).toContain('Every step came true');
});

test('says what is stuck before anything else', async () => {
  const scenario = answers('NodeStageVolume', 'INTERNAL(broken)');
  const played = await play(ONE_POD, 'create; wait running within 1m', { scenario });
  const page = htmlText(played.timeline, played.outcome, 'pod.yaml');
  expect(page.indexOf('stuck: NodeStageVolume fails with INTERNAL')).toBeLessThan(page.indexOf('<svg'));
});
