import { Code, CsiError } from '../../../src/csi/status';
import { ApiServer } from '../../../src/kubelet/api-server';
import { CsiCalls } from '../../../src/kubelet/csi/calls';
import type { NodeObject } from '../../../src/kubelet/objects';
import { CsiPlugin } from '../../../src/kubelet/pluginmanager/csi-plugin';
import { NodeDriverRegistrar } from '../../../src/kubelet/pluginmanager/node-driver-registrar';
import { NodeInfoManager } from '../../../src/kubelet/pluginmanager/node-info-manager';
import { pluginHandlers } from '../../../src/kubelet/pluginmanager/plugin-handlers';
import { PluginManager } from '../../../src/kubelet/pluginmanager/plugin-manager';
import { PluginsFolder } from '../../../src/kubelet/pluginmanager/plugins-folder';
import { Seeded } from '../../../src/kubelet/seeded';
import { Timeline } from '../../../src/kubelet/timeline/timeline';
import { VirtualClock } from '../../../src/util/virtual-clock';

const DRIVER = 'other.csi.test';
const ROOT = '/var/lib/kubelet';

let life: AbortController;
let clock: VirtualClock;
let timeline: Timeline;
let node: NodeObject;

beforeEach(() => {
  life = new AbortController();
  clock = new VirtualClock();
  timeline = new Timeline(clock, (text) => text);
});
afterEach(() => life.abort());

/** A driver of somebody else behind its socket, which answers one call after another: an error or nothing. */
function start(
  { name = [], info = [] }: { name?: (Code | undefined)[]; info?: (Code | undefined)[] },
  retriesRegistration: boolean,
): void {
  const { signal } = life;
  const answer = async <T>(errors: (Code | undefined)[], response: T): Promise<T> => {
    const code = errors.shift();
    if (code !== undefined) throw new CsiError(code, 'no');
    return response;
  };
  const connect = () => ({
    GetPluginInfo: () => answer(name, { name: DRIVER }),
    NodeGetInfo: () => answer(info, { node_id: 'n', max_volumes_per_node: '0', accessible_topology: null }),
    close: () => undefined,
  });
  const api = new ApiServer(clock, new Seeded(1));
  node = {
    kind: 'Node',
    meta: { name: 'node-1', namespace: '', uid: 'u' },
    ready: true,
    outOfService: false,
    volumesInUse: [],
    volumesAttached: [],
    labels: new Map(),
    allocatable: new Map(),
    topologyKeys: new Map(),
    csiDrivers: new Map(),
    lastHeartbeat: clock.now(),
  };
  api.nodes.add(node);
  const folder = new PluginsFolder();
  const common = { clock, timeline, nodeName: 'node-1', signal };
  const registrar = new CsiCalls({ ...common, who: 'node-driver-registrar', connect });
  const kubelet = new CsiCalls({ ...common, who: 'kubelet', connect });
  const sockets = new CsiCalls({ ...common, who: 'kubelet', connect: (path = '') => folder.connect(path) });
  new NodeDriverRegistrar({ ...common, rootDir: ROOT, folder, calls: registrar })
    .run()
    .catch(() => undefined);
  const nodeInfo = new NodeInfoManager({ api, timeline, nodeName: 'node-1' });
  const plugin = new CsiPlugin({ calls: kubelet, nodeInfo, signal, registered: () => undefined });
  const handlers = pluginHandlers(plugin, { handlesDra: true });
  new PluginManager({ ...common, folder, calls: sockets, handlers, retriesRegistration });
}

const asked = (method: string) =>
  timeline.calls.filter((call) => call.method === method).map(({ at, code }) => `${at / 1000} ${code}`);

it('asks the driver for its name, and offers it to the kubelet', async () => {
  start({}, true);
  await clock.advance(60_000);
  expect(timeline.calls.map(({ who, method, code }) => `${who} ${method} ${code}`)).toEqual([
    'node-driver-registrar GetPluginInfo OK',
    'kubelet GetInfo OK',
    'kubelet NodeGetInfo OK',
    'kubelet NotifyRegistrationStatus OK',
  ]);
  expect([...node.csiDrivers]).toEqual([[DRIVER, 'n']]);
});

it('exits where the driver has no name, and is started again after 10 s, 20 s …', async () => {
  start({ name: [Code.UNAVAILABLE, Code.UNAVAILABLE] }, true);
  await clock.advance(60_000);
  expect(asked('GetPluginInfo')).toEqual(['0 UNAVAILABLE', '10 UNAVAILABLE', '30 OK']);
  expect(asked('NodeGetInfo')).toEqual(['30 OK']);
});

it('exits when it is refused: its socket is left, and a kubelet 1.36 dials it in vain until it is back', async () => {
  start({ info: [Code.INTERNAL] }, true);
  await clock.advance(60_000);
  expect(asked('GetPluginInfo')).toEqual(['0 OK', '11 OK']);
  // Connects at 2 s, 3 s, 4.6 s, 7.16 s, 11.256 s; then finds that the socket is another one.
  expect(asked('NodeGetInfo')).toEqual(['1 INTERNAL', '11.256 OK', '13 OK']);
  expect(node.csiDrivers.has(DRIVER)).toBe(true);
});

it('exits when it is refused: a kubelet 1.32 asks again when its next process has made its socket', async () => {
  start({ info: [Code.INTERNAL] }, false);
  await clock.advance(60_000);
  expect(asked('NodeGetInfo')).toEqual(['1 INTERNAL', '12 OK']);
});
