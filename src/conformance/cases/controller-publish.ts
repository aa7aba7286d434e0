import { mount, NO_FILESYSTEM } from '../capability';
import { casesOf } from '../case';
import type { MadeVolume, Probe } from '../probe';

/** More volumes than this are not made to come to a limit. */
const MOST = 32n;

/** As many volumes as the node takes, attached. */
async function fullNode(probe: Probe): Promise<MadeVolume[]> {
  const limit = BigInt(probe.facts.node?.max_volumes_per_node ?? 0);
  if (limit <= 0n) probe.skip('the node tells no max_volumes_per_node');
  if (limit > MOST) probe.skip(`max_volumes_per_node is ${limit}, more than ${MOST} are not tried`);
  const volumes: MadeVolume[] = [];
  for (let made = 0n; made < limit; made += 1n) {
    const volume = await probe.volume();
    await probe.attach(volume);
    volumes.push(volume);
  }
  return volumes;
}

export const controllerPublish = casesOf('Controller.ControllerPublishVolume', [
  {
    id: 'P01',
    level: 'must',
    section: 'ControllerPublishVolume',
    title: 'the same call again: OK, the same publish_context',
    run: async (probe) => {
      const volume = await probe.volume();
      const first = await probe.attach(volume);
      probe.same(await probe.attach(volume), first, 'publish_context');
    },
  },
  {
    id: 'P05',
    level: 'allowed',
    section: 'ControllerPublishVolume',
    needs: ['hint otherNode'],
    title: 'a second node, for a volume of a MULTI_NODE_ mode: OK',
    run: async (probe) => {
      const capability = mount({ mode: 'MULTI_NODE_MULTI_WRITER' });
      const volume = await probe.volumeIfMade('for MULTI_NODE_MULTI_WRITER', { capability });
      await probe.attach(volume);
      await probe.attach(volume, probe.hints.otherNode);
    },
  },
  {
    id: 'P06',
    level: 'must',
    section: 'ControllerPublishVolume Errors',
    title: 'one volume more than max_volumes_per_node: RESOURCE_EXHAUSTED',
    run: async (probe) => {
      await fullNode(probe);
      const one = await probe.volume();
      await probe.refused('ControllerPublishVolume', probe.attachment(one), 'RESOURCE_EXHAUSTED');
    },
  },
  {
    id: 'P08',
    level: 'must',
    section: 'ControllerPublishVolume Errors',
    title: 'at the limit, one detached: another one is OK',
    run: async (probe) => {
      const [first] = await fullNode(probe);
      if (first) await probe.detach(first);
      await probe.attach(await probe.volume());
    },
  },
  {
    id: 'P09',
    level: 'decision',
    section: 'ControllerPublishVolumeRequest',
    title: 'a capability that the volume cannot serve: refused',
    run: async (probe) => {
      const volume_capability = mount({ fsType: NO_FILESYSTEM });
      const request = probe.attachment(await probe.volume(), { volume_capability });
      await probe.refused('ControllerPublishVolume', request, 'any refusal');
    },
  },
  {
    id: 'P10',
    level: 'must',
    section: 'ControllerPublishVolumeRequest',
    title: "a volume_context with a changed value of the driver's own: INVALID_ARGUMENT",
    run: async (probe) => {
      const volume = await probe.volume();
      const [key] = Object.keys(volume.context);
      if (key === undefined) return probe.skip('volume_context is empty');
      const volume_context = { ...volume.context, [key]: `${volume.context[key]}-changed` };
      await probe.refused(
        'ControllerPublishVolume',
        probe.attachment(volume, { volume_context }),
        'INVALID_ARGUMENT',
      );
    },
  },
  {
    id: 'P11',
    level: 'decision',
    section: 'ControllerPublishVolumeRequest',
    title: "volume_context absent, or with keys of the CO's: OK",
    run: async (probe) => {
      const volume = await probe.volume();
      const added = {
        'storage.kubernetes.io/csiProvisionerIdentity': '1234-5678-driver',
        'csi.storage.k8s.io/pv/name': 'pvc-1234',
      };
      for (const volume_context of [{}, { ...volume.context, ...added }])
        await probe.ok('ControllerPublishVolume', probe.attachment(volume, { volume_context }));
    },
  },
  {
    id: 'P12',
    level: 'must',
    section: 'VolumeCapability',
    title: 'a capability with nothing in it: INVALID_ARGUMENT',
    run: async (probe) => {
      const request = probe.attachment(await probe.volume(), { volume_capability: {} });
      await probe.refused('ControllerPublishVolume', request, 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'P02',
    level: 'must',
    section: 'ControllerPublishVolume Errors',
    title: 'an unknown volume, an unknown node: NOT_FOUND',
    run: async (probe) => {
      const volume = await probe.volume();
      for (const fields of [
        { volume_id: 'conformance-unknown-volume' },
        { node_id: 'conformance-unknown-node' },
      ])
        await probe.refused('ControllerPublishVolume', probe.attachment(volume, fields), 'NOT_FOUND');
    },
  },
  {
    id: 'P04',
    level: 'must',
    section: 'ControllerPublishVolume Errors',
    needs: ['hint otherNode'],
    title: 'a second node, for a volume of SINGLE_NODE_WRITER: FAILED_PRECONDITION; OK once it is detached',
    run: async (probe) => {
      const volume = await probe.volume();
      await probe.attach(volume);
      const elsewhere = probe.attachment(volume, { node_id: probe.hints.otherNode ?? '' });
      await probe.refused('ControllerPublishVolume', elsewhere, 'FAILED_PRECONDITION');
      await probe.detach(volume);
      await probe.ok('ControllerPublishVolume', elsewhere);
    },
  },
]);
