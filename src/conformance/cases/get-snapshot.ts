import { casesOf } from '../case';

export const getSnapshot = casesOf('Controller.GetSnapshot', [
  {
    id: 'Z01',
    level: 'must',
    section: 'GetSnapshot Errors',
    title: 'an empty id: INVALID_ARGUMENT; an unknown one: NOT_FOUND',
    run: async (probe) => {
      await probe.refused('GetSnapshot', { snapshot_id: '' }, 'INVALID_ARGUMENT');
      await probe.refused('GetSnapshot', { snapshot_id: 'conformance-unknown-snapshot' }, 'NOT_FOUND');
    },
  },
]);
