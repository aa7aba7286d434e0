import type { Answer } from '../answer';
import { casesOf } from '../case';
import type { Probe } from '../probe';

const AT_ONCE = 5;

/** The same call several times at once: each is OK or ABORTED. @returns those that are OK */
async function together<A extends Answer>(probe: Probe, call: () => Promise<A>): Promise<A[]> {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, call));
  for (const answer of answers) if (answer.code !== 'OK') probe.isRefused(answer, 'ABORTED');
  return answers.filter(({ code }) => code === 'OK');
}

export const anyConcurrency = casesOf('(any)', [
  {
    id: 'T15',
    level: 'allowed',
    section: 'Concurrency',
    title: 'the same call several times at once: each OK or ABORTED, one volume; a repeat is OK',
    run: async (probe) => {
      const request = probe.creation();
      const made = await together(probe, () => probe.call('CreateVolume', request));
      const again = await probe.ok('CreateVolume', request, 'a repeat after they were answered');
      const ids = new Set(
        [...made.map(({ response }) => response?.volume), again.volume].map((v) => v?.volume_id),
      );
      probe.that(ids.size === 1, 'one volume', [...ids]);
      if (!probe.facts.node) return;
      const volume = await probe.volume({ name: request.name });
      const staged = await probe.attached(volume);
      if (probe.serves('NodeStageVolume')) {
        await together(probe, () => probe.call('NodeStageVolume', probe.staging(staged)));
        await probe.ok('NodeStageVolume', probe.staging(staged), 'a repeat after they were answered');
      }
      const publication = probe.publication(staged, await probe.scratch.target());
      await together(probe, () => probe.call('NodePublishVolume', publication));
      await probe.ok('NodePublishVolume', publication, 'a repeat after they were answered');
    },
  },
  {
    id: 'T16',
    level: 'decision',
    section: 'Concurrency',
    needs: ['hint slowVolume'],
    title: 'a slow call on one volume does not delay the calls on another',
    run: async (probe) => {
      const parameters = probe.parameters(probe.hints.slowVolume);
      const slow = await probe.attached(await probe.volume({ parameters }));
      const target = await probe.scratch.target();
      let isOver = false;
      const first = (
        probe.serves('NodeStageVolume')
          ? probe.ok('NodeStageVolume', probe.staging(slow))
          : probe.ok('NodePublishVolume', probe.publication(slow, target))
      ).finally(() => {
        isOver = true;
      });
      // Whatever becomes of the other volume: nobody is left waiting for this one unheard.
      first.catch(() => undefined);
      const other = await probe.published();
      await probe.unpublish(other);
      await probe.unstage(other);
      const wasOver = isOver;
      await first;
      probe.that(!wasOver, 'another volume to be served while the slow call is under way', 'it waited');
    },
  },
]);
