import { casesOf } from '../case';

export const probeCases = casesOf('Identity.Probe', [
  {
    id: 'I07',
    level: 'must',
    section: 'Probe Errors',
    title: 'a plugin that is not healthy says FAILED_PRECONDITION',
    run: async (probe) => {
      const answer = await probe.call('Probe', {});
      if (answer.code === 'OK') probe.skip('the plugin is healthy');
      probe.isRefused(answer, 'FAILED_PRECONDITION');
    },
  },
  {
    id: 'I08',
    level: 'allowed',
    section: 'Probe',
    title: 'a plugin that serves calls says that it is ready: true, or nothing',
    run: async (probe) => {
      const answer = await probe.call('Probe', {});
      if (answer.code === 'FAILED_PRECONDITION') probe.skip('the plugin is not healthy');
      const { ready } = await probe.ok('Probe', {});
      probe.that(ready === null || ready.value, 'ready to be true or absent', { ready });
    },
  },
]);
