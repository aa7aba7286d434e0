import type { CallSelector, QuantityTest, VolumeMatch } from '../../../../src/scenarios/model';
import { count, judge, patterns, Story, select } from './story';

const parameters = {
  'csi.storage.k8s.io/pvc/name': 'data-0',
  'csi.storage.k8s.io/pvc/namespace': 'db',
  storageClass: 'slow',
  tier: 'gold',
};

const story = new Story();
story.event(0, 'started', { nodeId: 'worker-1' });
story.call(1, 'CreateVolume', undefined, {
  request: {
    name: 'pvc-1',
    parameters,
    capacity_range: { required_bytes: '1000' },
    volume_capabilities: [{ mount: { fs_type: 'xfs' }, access_mode: { mode: 'SINGLE_NODE_WRITER' } }],
  },
  response: { volume: { volume_id: 'v1', capacity_bytes: '2000', volume_context: { variant: 'final' } } },
});
story.call(2, 'NodeStageVolume', 'v1', { request: { volume_context: { variant: 'other' } } });
story.call(3, 'NodePublishVolume', 'v1', {
  request: {
    volume_context: {
      'csi.storage.k8s.io/pod.name': 'app-0',
      'csi.storage.k8s.io/pod.namespace': 'web',
      'csi.storage.k8s.io/serviceAccount.name': 'robot',
    },
  },
});
story.call(4, 'NodeUnstageVolume', 'v1', {
  code: 'INTERNAL',
  message: 'target is busy',
  fired: ['s/busy'],
});
story.call(5, 'NodeUnstageVolume', 'other', {
  process: 'node-2',
  nodeId: 'worker-2',
  pod: { name: 'app-1' },
});
story.call(6, 'GetPluginInfo');

/** Numbers of the calls that are selected, by method. */
function selected(rest: Partial<CallSelector>): string[] {
  const methods = story.entries.flatMap((entry) => (entry.type === 'received' ? [entry] : []));
  return methods
    .filter(({ method }) => {
      const test = { kind: 'count', withinMs: undefined, since: undefined, count: count('>=1') } as const;
      return judge(story, { ...test, calls: { ...select([method]), ...rest } }).status === 'passed';
    })
    .map(({ method }) => method)
    .filter((method, i, all) => all.indexOf(method) === i);
}

const CREATE = 'CreateVolume';
const STAGE = 'NodeStageVolume';
const PUBLISH = 'NodePublishVolume';
const UNSTAGE = 'NodeUnstageVolume';

describe('selectors of calls', () => {
  const atLeast: QuantityTest = {
    source: '>=2000',
    test: (bytes) => bytes !== undefined && bytes >= 2000n,
  };
  it.each<[string, VolumeMatch, string[]]>([
    ['id', { id: patterns('v*') }, [CREATE, STAGE, PUBLISH, UNSTAGE]],
    ['name', { name: patterns('pvc-1') }, [CREATE, STAGE, PUBLISH, UNSTAGE]],
    ['pvc', { pvcNamespace: patterns('db'), pvcName: patterns('data-*') }, [CREATE, STAGE, PUBLISH, UNSTAGE]],
    ['pvc of another namespace', { pvcNamespace: patterns('web'), pvcName: patterns('data-*') }, []],
    ['storageClass', { storageClass: patterns('slow') }, [CREATE, STAGE, PUBLISH, UNSTAGE]],
    ['parameters', { parameters: { tier: patterns('gold') } }, [CREATE, STAGE, PUBLISH, UNSTAGE]],
    ['attributes of the call', { attributes: { variant: patterns('other') } }, [STAGE]],
    ['attributes it was made with', { attributes: { variant: patterns('final') } }, [UNSTAGE]],
    ['negation', { attributes: { variant: patterns('!final') } }, [CREATE, STAGE, PUBLISH, UNSTAGE]],
    ['fsType', { fsType: patterns('xfs') }, [CREATE, STAGE, PUBLISH, UNSTAGE]],
    ['accessMode', { accessMode: patterns('SINGLE_NODE_*') }, [CREATE, STAGE, PUBLISH, UNSTAGE]],
    ['block', { block: true }, []],
    ['capacity', { capacity: atLeast }, [STAGE, PUBLISH, UNSTAGE]],
  ])('volume by %s', (_, volume, methods) => {
    const found = selected({ volume });
    // CreateVolume learns its capacity and context only from its answer.
    expect(found.filter((method) => method !== CREATE)).toEqual(
      methods.filter((method) => method !== CREATE),
    );
    if (methods.includes(CREATE) && !volume.id) expect(found).toContain(CREATE);
  });

  it.each<[string, Partial<CallSelector>, string[]]>([
    ['node of the process', { node: patterns('worker-1') }, [STAGE, PUBLISH, UNSTAGE]],
    ['node that is named', { node: patterns('worker-2') }, [UNSTAGE]],
    [
      'pod of the context',
      { pod: { name: patterns('app-0'), namespace: patterns('web'), serviceAccount: patterns('robot') } },
      [PUBLISH],
    ],
    ['pod of the entry', { pod: { name: patterns('app-1') } }, [UNSTAGE]],
    ['service', { service: ['Identity'] }, ['GetPluginInfo']],
    ['message', { message: patterns('*busy*') }, [UNSTAGE]],
    ['fired', { fired: patterns('busy') }, [UNSTAGE]],
    ['fired with its scenario', { fired: patterns('s/*') }, [UNSTAGE]],
    ['code', { code: patterns('INTERNAL') }, [UNSTAGE]],
  ])('%s', (_, selector, methods) => expect(selected(selector)).toEqual(methods));
});
