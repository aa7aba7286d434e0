import * as fs from 'node:fs/promises';
import { failedPrecondition } from '../../src/csi/status';
import { CAPABILITIES, parseCapabilities } from '../../src/services/capabilities';
import { outcome, protocol, refusal } from './harness';

const pass = {
  before: async () => undefined,
  after: async <R>(_call: unknown, response: R) => response,
  point: async () => undefined,
};

protocol('Identity', (bench) => {
  test('I02 GetPluginInfo: the name as configured, a version', async () => {
    const driver = await bench.start({ driverName: 'other.csi.test', version: '1.2.3' });
    expect(await driver.csi.GetPluginInfo()).toEqual({
      name: 'other.csi.test',
      vendor_version: '1.2.3',
      manifest: {},
    });
  });

  test('I03 a node and a controller of one plugin: the same capabilities', async () => {
    const controller = await bench.start({ profile: 'controller' });
    const node = await bench.start({ profile: 'node', nodeId: 'node-2', dataDir: controller.dataDir });
    const both = await bench.start();
    const capabilities = await controller.csi.GetPluginCapabilities();
    expect(await node.csi.GetPluginCapabilities()).toEqual(capabilities);
    expect(await both.csi.GetPluginCapabilities()).toEqual(capabilities);
    expect(await node.csi.GetPluginInfo()).toEqual(await controller.csi.GetPluginInfo());
  });

  test('I03 a plugin without a controller claims no service of one', async () => {
    const { csi } = await bench.start({ profile: 'node', nodeId: 'alone', advertise: 'node' });
    const { capabilities } = await csi.GetPluginCapabilities();
    expect(capabilities.map((capability) => capability.service?.type)).toEqual(
      capabilities.map((capability) => (capability.service ? 2 : undefined)),
    );
  });

  test('I04 every capability is one of the specification, each once', async () => {
    const { capabilities } = await bench.csi.GetPluginCapabilities();
    const services = capabilities.flatMap((capability) => capability.service?.type ?? []);
    const expansions = capabilities.flatMap((capability) => capability.volume_expansion?.type ?? []);
    expect(services.sort()).toEqual([1, 2, 3, 4]);
    expect(expansions).toEqual([1]);
  });

  test('I06 what is switched off is not told', async () => {
    const { csi } = await bench.start({
      capabilities: '-GROUP_CONTROLLER_SERVICE,-VOLUME_ACCESSIBILITY_CONSTRAINTS,-ONLINE',
    });
    const { capabilities } = await csi.GetPluginCapabilities();
    expect(
      capabilities.map(({ service, volume_expansion }) => [service?.type, volume_expansion?.type]),
    ).toEqual(expect.not.arrayContaining([[2, undefined]]));
    expect(capabilities).toHaveLength(2);
  });

  test('I07 a rule says that the plugin is unhealthy: FAILED_PRECONDITION', async () => {
    const { csi } = await bench.start({
      faults: {
        ...pass,
        before: async (call) => {
          if (call.method === 'Probe') throw failedPrecondition('the array does not answer');
          return undefined;
        },
      },
    });
    expect(await refusal(csi.Probe())).toEqual({
      code: 'FAILED_PRECONDITION',
      message: 'the array does not answer',
    });
    expect(await outcome(csi.GetPluginInfo())).toBe('OK');
  });

  test('I07 a dependency is missing (the data folder): FAILED_PRECONDITION, and OK when it is back', async () => {
    const driver = await bench.start();
    const away = `${driver.dataDir}-away`;
    await fs.rename(driver.dataDir, away);
    expect(await outcome(driver.csi.Probe())).toBe('FAILED_PRECONDITION');
    await fs.rename(away, driver.dataDir);
    expect(await outcome(driver.csi.Probe())).toBe('OK');
  });

  test('I08 healthy: OK, ready is said', async () => {
    expect(await bench.csi.Probe()).toEqual({ ready: { value: true } });
  });

  test('a node without a controller is healthy too', async () => {
    const { csi } = await bench.start({ profile: 'node', nodeId: 'alone', advertise: 'node' });
    expect(await csi.Probe()).toEqual({ ready: { value: true } });
  });
});

protocol('capabilities of the services', (bench) => {
  const typesOf = ({ capabilities }: { capabilities: { rpc?: { type: number } | null }[] }) =>
    capabilities.map((capability) => capability.rpc?.type ?? 0).sort((a, b) => a - b);
  const numbers = (kind: 'controller' | 'node' | 'group') =>
    Object.values(CAPABILITIES[kind]).sort((a, b) => a - b);

  test('A02 everything that CSI 1.12 has, and no UNKNOWN', async () => {
    expect(typesOf(await bench.csi.ControllerGetCapabilities())).toEqual(numbers('controller'));
    expect(typesOf(await bench.csi.NodeGetCapabilities())).toEqual(numbers('node'));
    expect(typesOf(await bench.csi.GroupControllerGetCapabilities())).toEqual(numbers('group'));
    expect([numbers('controller').length, numbers('node').length, numbers('group').length]).toEqual([
      15, 6, 1,
    ]);
  });

  test('A03 only what is on', async () => {
    const { csi } = await bench.start({ capabilities: '-EXPAND_VOLUME,-ONLINE,-GET_VOLUME_STATS' });
    expect(typesOf(await csi.ControllerGetCapabilities())).toEqual(
      numbers('controller').filter((type) => type !== CAPABILITIES.controller.EXPAND_VOLUME),
    );
    const { EXPAND_VOLUME, GET_VOLUME_STATS } = CAPABILITIES.node;
    expect(typesOf(await csi.NodeGetCapabilities())).toEqual(
      numbers('node').filter((type) => type !== EXPAND_VOLUME && type !== GET_VOLUME_STATS),
    );
  });

  test.each([
    ['A01', '-PUBLISH_UNPUBLISH_VOLUME', 'LIST_VOLUMES_PUBLISHED_NODES'],
    ['A01', '-PUBLISH_UNPUBLISH_VOLUME,-LIST_VOLUMES_PUBLISHED_NODES', 'PUBLISH_READONLY'],
    ['A01', 'none,CONTROLLER_SERVICE,LIST_VOLUMES_PUBLISHED_NODES', 'PUBLISH_UNPUBLISH_VOLUME'],
    ['I05', '-controller.EXPAND_VOLUME,OFFLINE', 'OFFLINE'],
    ['I05', '-EXPAND_VOLUME', 'ONLINE'],
    ['I05', 'none,ONLINE', 'EXPAND_VOLUME'],
    ['A01', 'NO_SUCH_CAPABILITY', 'NO_SUCH_CAPABILITY'],
  ])('%s --capabilities=%s is refused and says %s', (_id, list, named) => {
    expect(() => parseCapabilities(list)).toThrow(new RegExp(`^--capabilities: .*${named}`));
  });

  test.each([
    '-PUBLISH_UNPUBLISH_VOLUME,-LIST_VOLUMES_PUBLISHED_NODES,-PUBLISH_READONLY',
    '-controller.EXPAND_VOLUME',
    'none,node.EXPAND_VOLUME,ONLINE',
    'OFFLINE',
    'none',
    'all',
  ])('A01 --capabilities=%s is taken', (list) => {
    expect(() => parseCapabilities(list)).not.toThrow();
  });
});
