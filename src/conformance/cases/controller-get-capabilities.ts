import { casesOf } from '../case';

export const controllerGetCapabilities = casesOf('Controller.ControllerGetCapabilities', [
  {
    id: 'A01',
    level: 'must',
    section: 'ControllerServiceCapability',
    needs: ['controller.LIST_VOLUMES_PUBLISHED_NODES'],
    title: 'LIST_VOLUMES_PUBLISHED_NODES is advertised only beside PUBLISH_UNPUBLISH_VOLUME',
    run: async (probe) => {
      await probe.ok('ControllerGetCapabilities', {});
      probe.that(
        probe.has('controller.PUBLISH_UNPUBLISH_VOLUME'),
        'PUBLISH_UNPUBLISH_VOLUME beside LIST_VOLUMES_PUBLISHED_NODES',
        'LIST_VOLUMES_PUBLISHED_NODES alone',
      );
    },
  },
]);
