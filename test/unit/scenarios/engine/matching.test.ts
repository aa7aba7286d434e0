import type { VolumeFacts } from '../../../../src/scenarios/engine/facts';
import { scenarios, TestEngine } from '../../../support/engine';

const matching = (match: string) =>
  new TestEngine(
    `  rules: [{name: r, match: {rpc: NodePublishVolume, ${match}}, then: [{error: {code: INTERNAL}}]}]`,
  );

const facts: Partial<VolumeFacts> = {
  name: 'pvc-1',
  pvc: { namespace: 'db', name: 'data-0' },
  storageClass: 'fast',
  parameters: { backend: 'loop' },
  attributes: { variant: 'final' },
  states: ['created', 'attached', 'staged'],
};
const options = { volume: 'vol-1', facts, pod: { namespace: 'db', name: 'db-0' }, node: 'kind-worker2' };

describe('what a rule matches', () => {
  it.each([
    'volume: {id: vol-1}',
    'volume: {name: "pvc-*"}',
    'volume: {pvc: {namespace: db, name: "data-?"}}',
    'volume: {storageClass: [slow, fast]}',
    'volume: {storageClass: "!slow"}',
    'volume: {storageClass: /^f/}',
    'volume: {parameters: {backend: loop}}',
    'volume: {attributes: {variant: "!other"}}',
    'volume: {attributes: {missing: "!other"}}',
    'volume: {fsType: ext4}',
    'volume: {accessMode: "SINGLE_NODE_*"}',
    'volume: {block: false}',
    'volume: {capacity: ">=1Gi"}',
    'pod: {name: db-0}',
    'node: "kind-worker*"',
    'state: {volume: staged}',
    'where: "volume.pvc.name == \'data-0\' && request.readonly"',
  ])('%s', async (match) => {
    expect(await matching(match).send('NodePublishVolume', { ...options, request: { readonly: true } })).toBe(
      'INTERNAL',
    );
  });

  it.each([
    ['volume: {pvc: {namespace: web}}', 'match.volume.pvc.namespace', '"db"', 'web'],
    ['volume: {storageClass: slow}', 'match.volume.storageClass', '"fast"', 'slow'],
    ['volume: {attributes: {missing: x}}', 'match.volume.attributes.missing', 'nothing', 'x'],
    ['volume: {block: true}', 'match.volume.block', 'false', 'true'],
    ['volume: {capacity: ">1Gi"}', 'match.volume.capacity', '1073741824', '>1Gi'],
    ['pod: {name: "!db-0"}', 'match.pod.name', '"db-0"', '!db-0'],
    ['node: kind-worker', 'match.node', '"kind-worker2"', 'kind-worker'],
    ['state: {volume: published}', 'match.state.volume', 'created, attached, staged', 'published'],
  ])('not %s, and says why', (match, key, found, wanted) => {
    expect(matching(match).misses('NodePublishVolume', options)).toEqual([
      { rule: 'test/r', key, found, wanted },
    ]);
  });

  it('a higher priority is asked first, and the first that fires ends the search', async () => {
    const engine = new TestEngine(`
  rules:
  - {name: low, match: {rpc: NodeStageVolume}, then: [{error: {code: INTERNAL}}]}
  - {name: high, priority: 5, match: {rpc: NodeStageVolume}, when: {nth: 1}, then: [{error: {code: ABORTED}}]}
`);
    const send = () => engine.send('NodeStageVolume', { volume: 'a' });
    expect([await send(), await send()]).toEqual(['ABORTED', 'INTERNAL']);
  });

  it('with continue several rules act on one call, in order', async () => {
    const engine = new TestEngine(`
  rules:
  - {name: wait, continue: true, match: {rpc: NodeStageVolume}, then: [{delay: 5s}]}
  - {name: fail, match: {rpc: NodeStageVolume}, then: [{error: {code: INTERNAL}}]}
`);
    const answer = engine.send('NodeStageVolume', { volume: 'a' });
    await engine.clock.advance(4_999);
    expect(engine.engine.held.size).toBe(1);
    await engine.clock.advance(1);
    expect(await answer).toBe('INTERNAL');
  });

  it('a scenario that is not armed acts on volumes that name it, by parameter or attribute', async () => {
    const engine = new TestEngine();

    engine.load(
      scenarios('  rules: [{name: r, match: {rpc: NodeStageVolume}, then: [{error: {code: INTERNAL}}]}]'),
      false,
    );
    const send = (more: Partial<VolumeFacts>) => engine.send('NodeStageVolume', { volume: 'a', facts: more });
    expect([
      await send({}),
      await send({ parameters: { scenario: 'test' } }),
      await send({ attributes: { scenario: 'test' } }),
      await send({ parameters: { scenario: 'other' } }),
    ]).toEqual(['OK', 'INTERNAL', 'INTERNAL', 'OK']);
  });
});
