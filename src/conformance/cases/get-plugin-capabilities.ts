import { casesOf } from '../case';
import type { Probe } from '../probe';

const capabilities = async (probe: Probe, endpoint: 'node' | 'controller') => {
  const answer = await probe.send('GetPluginCapabilities', {}, { endpoint });
  return (answer.response?.capabilities ?? []).map((capability) => JSON.stringify(capability)).sort();
};

export const getPluginCapabilities = casesOf('Identity.GetPluginCapabilities', [
  {
    id: 'I03',
    level: 'must',
    section: 'GetPluginCapabilities',
    needs: ['a second endpoint'],
    title: 'the endpoints of the controller and of the node tell the same set',
    run: async (probe) => {
      const node = await capabilities(probe, 'node');
      probe.same(await capabilities(probe, 'controller'), node, 'what the node says:');
    },
  },
  {
    id: 'I05',
    level: 'must',
    section: 'PluginCapability.VolumeExpansion',
    title:
      "OFFLINE expansion is advertised only beside the controller's EXPAND_VOLUME, ONLINE beside one of the two",
    run: async (probe) => {
      const byController = probe.has('controller.EXPAND_VOLUME');
      const advertised = (name: string) => `${name}, and not controller.EXPAND_VOLUME`;
      if (probe.has('plugin.OFFLINE'))
        probe.that(byController, 'controller.EXPAND_VOLUME beside OFFLINE', advertised('OFFLINE'));
      if (probe.has('plugin.ONLINE'))
        probe.that(
          byController || probe.has('node.EXPAND_VOLUME'),
          'an EXPAND_VOLUME beside ONLINE',
          advertised('ONLINE'),
        );
      if (!probe.has('plugin.OFFLINE') && !probe.has('plugin.ONLINE'))
        probe.skip('neither ONLINE nor OFFLINE is advertised');
    },
  },
]);
