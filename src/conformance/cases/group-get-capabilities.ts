import { casesOf } from '../case';

export const groupGetCapabilities = casesOf('GroupController.GroupControllerGetCapabilities', [
  {
    id: 'GC13',
    level: 'decision',
    section: 'GroupControllerGetCapabilities',
    needs: ['plugin.GROUP_CONTROLLER_SERVICE'],
    title: 'the service is advertised: its list is not empty',
    run: async (probe) => {
      const { capabilities } = await probe.ok('GroupControllerGetCapabilities', {});
      probe.that(capabilities.length > 0, 'a capability', 'none');
    },
  },
]);
