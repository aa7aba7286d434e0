import {
  answers,
  CLAIM,
  callsOf,
  eventsOf,
  ONE_POD,
  type Played,
  play,
  pod,
  rules,
  STORAGE_CLASS,
} from './harness';

const EXPAND = 'create; wait running; expand data 2Gi';
const plain = (text = '') => text.replace(/"pvc-[^"]*"/, '"PV"').replace(/(desc = ).*(no)$/, '$1$2');
const said = (played: Played, reason: string) =>
  eventsOf(played, reason).map(({ message }) => plain(message));

describe('texts of a failed expansion', () => {
  test.each([
    ['INTERNAL', 'Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = no'],
    [
      'UNAVAILABLE',
      'Expander.NodeExpand failed to expand the volume : rpc error: code = Unavailable desc = no',
    ],
    // Without the colon: another way through the same function.
    [
      'OUT_OF_RANGE',
      'Expander.NodeExpand failed to expand the volume rpc error: code = OutOfRange desc = no',
    ],
  ])('%s, of a volume in use: VolumeResizeFailed of the pod, each time', async (code, text) => {
    const scenario = answers('NodeExpandVolume', `2*${code}(no) -> ok`);
    const played = await play(ONE_POD, `${EXPAND}; wait calls NodeExpandVolume; advance 1m`, { scenario });
    const failures = eventsOf(played, 'VolumeResizeFailed').filter(
      ({ object }) => object === 'Pod default/web',
    );
    expect(failures.map(({ message }) => plain(message))[0]).toBe(
      `NodeExpandVolume.NodeExpandVolume failed for volume "PV" : ${text}`,
    );
    expect(callsOf(played, 'NodeExpandVolume')).toHaveLength(code === 'OUT_OF_RANGE' ? 1 : 3);
  });

  test('of a volume that is being mounted: FailedMount, and the publish comes again', async () => {
    const scenario = answers('NodeExpandVolume', '1*INTERNAL(no) -> ok');
    const steps = `create fake data; create web; wait running; delete; wait clean; expand data 2Gi; wait calls ControllerExpandVolume OK; create web; wait running`;
    const played = await play(ONE_POD, steps, { scenario });
    expect(played.outcome.failure).toBeUndefined();
    expect(said(played, 'FailedMount')).toEqual([
      'MountVolume.Setup failed while expanding volume for volume "PV" : Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = no',
    ]);
    expect(eventsOf(played, 'VolumeResizeFailed')).toEqual([]);
    expect(callsOf(played, 'NodePublishVolume')).toHaveLength(3);
  });

  test('the driver has no EXPAND_VOLUME: said in its words, and never called', async () => {
    const played = await play(ONE_POD, `${EXPAND}; wait event VolumeResizeFailed`, {
      capabilities: '-node.EXPAND_VOLUME',
      scenario: rules(
        '{name: node, match: {rpc: ControllerExpandVolume}, then: [{respond: {merge: {node_expansion_required: true}}}]}',
      ),
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(said(played, 'VolumeResizeFailed')[0]).toBe(
      'NodeExpandVolume.NodeExpandVolume failed for volume "PV" : NodeExpand is not supported by the CSI driver fake.csi.test',
    );
    expect(callsOf(played, 'NodeExpandVolume')).toEqual([]);
  });

  test('a pod that has it read-only is told when it is mounted, and so is its claim', async () => {
    const readOnly = pod('reader').replace('claimName: data', 'claimName: data, readOnly: true');
    const steps =
      'create fake data; create web; wait running; delete; wait clean; expand data 2Gi; wait calls ControllerExpandVolume OK; create reader; wait running reader; advance 3m; assert calls NodeExpandVolume =0';
    const played = await play(ONE_POD + readOnly, steps);
    expect(played.outcome.failure).toBeUndefined();
    const events = eventsOf(played, 'FileSystemResizeFailed');
    expect(events.map(({ object, message }) => [object, plain(message)])).toEqual(
      ['Pod default/reader', 'PersistentVolumeClaim default/data'].map((object) => [
        object,
        'MountVolume.NodeExpandVolume failed for volume "PV" requested read-only file system',
      ]),
    );
  });
});

test('a size that was asked for anew after a final error: the first is given up as infeasible', async () => {
  const scenario = answers('NodeExpandVolume', 'INTERNAL(no)');
  const steps = `${EXPAND}; wait calls NodeExpandVolume INTERNAL; expand data 3Gi; advance 10m`;
  const played = await play(ONE_POD, steps, { scenario });
  const sizes = callsOf(played, 'ControllerExpandVolume').map(({ request }) => request);
  expect(sizes).toHaveLength(2);
});

describe('a volume of several nodes', () => {
  const shared = STORAGE_CLASS + CLAIM.replace('ReadWriteOnce', 'ReadWriteMany');
  const onNode = (name: string) => pod(name, `nodeName: ${name}`);
  const manifests = shared.replace('WaitForFirstConsumer', 'Immediate') + onNode('n1') + onNode('n2');

  test('is expanded on each of them, although the claim has its size after the first', async () => {
    const played = await play(manifests, `${EXPAND}; wait calls NodeExpandVolume =2; advance 10m`);
    expect(played.outcome.failure).toBeUndefined();
    expect(
      callsOf(played, 'NodeExpandVolume')
        .map(({ node }) => node)
        .sort(),
    ).toEqual(['n1', 'n2']);
  });

  test('whose driver needs no node for it: 1.36 asks none, 1.32 each (k/k#131419)', async () => {
    const scenario = rules(
      '{name: alone, match: {rpc: ControllerExpandVolume}, then: [{respond: {merge: {node_expansion_required: false}}}]}',
    );
    for (const [version, count] of [
      ['1.36', 0],
      ['1.32', 2],
    ] as const) {
      const played = await play(manifests, `${EXPAND}; advance 10m`, { scenario, version });
      expect(callsOf(played, 'NodeExpandVolume')).toHaveLength(count);
    }
  });

  test('of one node alone is not expanded a second time', async () => {
    const scenario = rules(
      '{name: alone, match: {rpc: ControllerExpandVolume}, then: [{respond: {merge: {node_expansion_required: false}}}]}',
    );
    const played = await play(ONE_POD, `${EXPAND}; advance 10m; kubelet restart; advance 5m`, { scenario });
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodeExpandVolume')).toEqual([]);
  });
});
