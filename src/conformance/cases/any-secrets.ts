import { schemaMessages } from '../../csi/gen/schema';
import { methods, rpcs } from '../../csi/rpcs';
import type { Answer } from '../answer';
import { mount } from '../capability';
import { casesOf } from '../case';
import { minimal } from '../minimal';
import type { Probe } from '../probe';

const secretMethods = (probe: Probe) =>
  methods.filter(
    (method) =>
      probe.serves(method) && schemaMessages[rpcs[method].requestType]?.fields.secrets !== undefined,
  );

export const anySecrets = casesOf('(any)', [
  {
    id: 'T11',
    level: 'must',
    section: 'Secrets Requirements',
    title: 'secrets come back in no answer, and are in no log or record, whether the call was OK or not',
    run: async (probe) => {
      const marker = `secret-${probe.name()}`;
      const secrets = { ...probe.hints.secrets, conformance: marker };
      const hidden = (answer: Answer) => {
        const text = `${answer.message} ${JSON.stringify(answer.response ?? null)}`;
        if (text.includes(marker))
          throw probe.failure('no secret in an answer', `one in that of ${answer.method}`);
      };
      for (const method of secretMethods(probe)) {
        hidden((await probe.send(method, { ...minimal[method], secrets } as never)) as Answer);
        hidden((await probe.send(method, { secrets } as never)) as Answer);
      }
      if (probe.serves('CreateVolume')) {
        const answer = await probe.send('CreateVolume', { ...probe.creation(), secrets });
        hidden(answer as Answer);
      }
      const traces = (await probe.given.readTraces?.()) ?? '';
      probe.that(!traces.includes(marker), 'no secret in logs and records', 'one');
    },
  },
  {
    id: 'T12',
    level: 'must',
    section: 'VolumeCapability.MountVolume',
    needs: ['places to look in'],
    title: 'mount_flags, which may be sensitive, are in no log',
    run: async (probe) => {
      const marker = `flag-${probe.name()}`;
      const volume_capability = mount({ flags: [`password=${marker}`] });
      const attached = await probe.attached(await probe.volume());
      // Whether the flag is known or not: it is not to be told.
      if (probe.serves('NodeStageVolume'))
        await probe.send('NodeStageVolume', probe.staging(attached, { volume_capability }));
      const target = await probe.scratch.target();
      await probe.send('NodePublishVolume', probe.publication(attached, target, { volume_capability }));
      const traces = (await probe.given.readTraces?.()) ?? '';
      probe.that(!traces.includes(marker), 'no mount flag in logs', 'one');
    },
  },
  {
    id: 'T13',
    level: 'must',
    section: 'Error Scheme',
    needs: ['hint wrongSecrets'],
    title: 'a driver that insists on secrets, which are missing or wrong: UNAUTHENTICATED',
    run: async (probe) => {
      for (const method of secretMethods(probe))
        for (const secrets of [{}, { ...probe.hints.wrongSecrets }]) {
          const answer = (await probe.send(method, { ...minimal[method], secrets } as never)) as Answer;
          probe.isRefused(answer, 'UNAUTHENTICATED');
        }
    },
  },
]);
