import { type Mode, mount } from '../capability';
import type { Case } from '../case';
import type { Probe } from '../probe';
import { at } from '../scratch';

const MULTI_NODE = ['MULTI_NODE_READER_ONLY', 'MULTI_NODE_SINGLE_WRITER', 'MULTI_NODE_MULTI_WRITER'] as const;

/** A published volume of one access mode. */
async function publishedFor(probe: Probe, mode: Mode) {
  const volume = await probe.volumeIfMade(`for ${mode}`, { capability: mount({ mode }) });
  return probe.publish(await probe.stage(volume));
}

/** NodePublishVolume of a volume that is published on the node: the specification's table of T1, T2, P1 and P2. */
export const secondPublishCases: readonly Omit<Case, 'rpc'>[] = [
  {
    id: 'NP05',
    level: 'must',
    section: 'NodePublishVolume Errors',
    title: 'the same target, the other readonly: ALREADY_EXISTS',
    run: async (probe) => {
      const published = await probe.published();
      const request = probe.publication(published, published.target, { readonly: true });
      await probe.refused('NodePublishVolume', request, 'ALREADY_EXISTS');
    },
  },
  {
    id: 'NP06',
    level: 'should',
    section: 'NodePublishVolume',
    title:
      'the same target, another capability or context: ALREADY_EXISTS (of a context INVALID_ARGUMENT, too)',
    run: async (probe) => {
      const modes = [mount(), mount({ mode: 'SINGLE_NODE_READER_ONLY' })];
      const published = await probe.published({ volume_capabilities: modes });
      const again = (fields: object) => probe.publication(published, published.target, fields);
      await probe.refused('NodePublishVolume', again({ volume_capability: modes[1] }), 'ALREADY_EXISTS');
      for (const [field, context] of [
        ['volume_context', published.context],
        ['publish_context', published.publishContext],
      ] as const) {
        const [key] = Object.keys(context);
        if (key === undefined) continue;
        const changed = { ...context, [key]: `${context[key]}-changed` };
        await probe.refused('NodePublishVolume', again({ [field]: changed }), [
          'ALREADY_EXISTS',
          'INVALID_ARGUMENT',
        ]);
      }
    },
  },
  {
    id: 'NP07',
    level: 'should',
    section: 'NodePublishVolume',
    title:
      'another target, SINGLE_NODE_WRITER or SINGLE_NODE_READER_ONLY: FAILED_PRECONDITION, no second target',
    run: async (probe) => {
      for (const mode of ['SINGLE_NODE_WRITER', 'SINGLE_NODE_READER_ONLY'] as const) {
        const published = await publishedFor(probe, mode);
        const second = await probe.scratch.target();
        await probe.refused('NodePublishVolume', probe.publication(published, second), 'FAILED_PRECONDITION');
        probe.that((await at(second)) === undefined, 'no second target', 'something there');
        await probe.unpublish(published);
        await probe.unstage(published);
      }
    },
  },
  {
    id: 'NP08',
    level: 'should',
    section: 'NodePublishVolume',
    title: 'another target, each MULTI_NODE_ mode that the driver makes volumes for, readonly or not: OK',
    run: async (probe) => {
      let tried = 0;
      for (const mode of MULTI_NODE) {
        const capability = mount({ mode });
        const request = probe.creation({ capability });
        if ((await probe.call('CreateVolume', request)).code !== 'OK') continue;
        tried += 1;
        const volume = await probe.volume({ capability, name: request.name });
        const published = await probe.publish(await probe.stage(volume));
        for (const readonly of [false, true]) {
          const target = await probe.scratch.target();
          await probe.ok('NodePublishVolume', probe.publication(published, target, { readonly }), mode);
        }
      }
      if (tried === 0) probe.skip('no volume for any MULTI_NODE_ mode');
    },
  },
  {
    id: 'NP09',
    level: 'should',
    section: 'NodePublishVolume',
    needs: ['node.SINGLE_NODE_MULTI_WRITER'],
    title: 'another target, SINGLE_NODE_MULTI_WRITER: OK',
    run: async (probe) => {
      const published = await publishedFor(probe, 'SINGLE_NODE_MULTI_WRITER');
      const target = await probe.scratch.target();
      await probe.ok('NodePublishVolume', probe.publication(published, target));
    },
  },
  {
    id: 'NP01',
    level: 'must',
    section: 'NodePublishVolume',
    title: 'the same call again: OK',
    run: async (probe) => {
      const published = await probe.published();
      const request = probe.publication(published, published.target);
      await probe.ok('NodePublishVolume', request, 'it is published there already');
    },
  },
];
