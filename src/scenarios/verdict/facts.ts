import type { JournalCall } from '../../journal/calls';
import { bytes, type IndexedVolume, type VolumeIndex } from '../../journal/volume-index';
import type { PodFacts, VolumeFacts } from '../engine/facts';

interface Request {
  name?: string;
  parameters?: Record<string, string>;
  volume_context?: Record<string, string>;
  volume_capability?: Capability;
  volume_capabilities?: Capability[];
  capacity_range?: { required_bytes?: string };
}

interface Capability {
  mount?: { fs_type?: string };
  block?: object;
  access_mode?: { mode?: string };
}

/**
 * What a selector of volumes is tested against: the call's own request first, then the CreateVolume that made the
 * volume. @returns undefined for a call that is about no volume.
 */
export function volumeFactsOf(call: JournalCall, volumes: VolumeIndex): VolumeFacts | undefined {
  const request = call.request as Request;
  const creates = call.method === 'CreateVolume';
  const id =
    call.volumeId ?? (creates && request.name !== undefined ? volumes.idOf(request.name) : undefined);
  if (id === undefined && !creates) return undefined;
  const made = volumes.get(id);
  const parameters = (creates ? request.parameters : undefined) ?? made?.parameters ?? {};
  const attributes = request.volume_context ?? made?.attributes ?? {};
  return {
    id: id ?? '',
    name: (creates ? request.name : made?.name) ?? '',
    pvc: volumes.pvcOf(call),
    storageClass: own(parameters, 'storageClass') ?? own(attributes, 'storageClass'),
    parameters,
    attributes,
    ...capabilityFacts(capabilitiesOf(request, made), parameters),
    capacityBytes: made?.capacityBytes ?? bytes(request.capacity_range?.required_bytes),
    states: [],
  };
}

/** The same for a volume that no call is looked at for. */
export function volumeFactsOfIndexed(volume: IndexedVolume): VolumeFacts {
  const { id, name, pvc, parameters, attributes, capacityBytes } = volume;
  return {
    id,
    name,
    pvc,
    storageClass: own(parameters, 'storageClass') ?? own(attributes, 'storageClass'),
    parameters,
    attributes,
    ...capabilityFacts(volume.capabilities as Capability[], parameters),
    capacityBytes,
    states: [],
  };
}

function capabilitiesOf(request: Request, made: IndexedVolume | undefined): readonly Capability[] {
  if (request.volume_capability) return [request.volume_capability];
  return request.volume_capabilities ?? (made?.capabilities as Capability[] | undefined) ?? [];
}

function capabilityFacts(
  capabilities: readonly Capability[],
  parameters: Readonly<Record<string, string>>,
): Pick<VolumeFacts, 'fsType' | 'accessModes' | 'block'> {
  const fsTypes = capabilities.map(({ mount }) => mount?.fs_type).filter((type) => type !== undefined);
  const modes = capabilities.map(({ access_mode }) => access_mode?.mode).filter((mode) => mode !== undefined);
  return {
    fsType: fsTypes[0] ?? own(parameters, 'csi.storage.k8s.io/fstype'),
    accessModes: [...new Set(modes)],
    block: capabilities.some(({ block }) => block !== undefined),
  };
}

/** From the entry, or from what podInfoOnMount puts into the volume context. */
export function podFactsOf(call: JournalCall): PodFacts | undefined {
  const context = (call.request as Request).volume_context ?? {};
  const found = {
    namespace: call.pod?.namespace ?? own(context, 'csi.storage.k8s.io/pod.namespace'),
    name: call.pod?.name ?? own(context, 'csi.storage.k8s.io/pod.name'),
    uid: call.pod?.uid ?? own(context, 'csi.storage.k8s.io/pod.uid'),
    serviceAccount: own(context, 'csi.storage.k8s.io/serviceAccount.name'),
  };
  const known = Object.entries(found).filter(([, value]) => value !== undefined);
  return known.length === 0 ? undefined : (Object.fromEntries(known) as PodFacts);
}

function own(map: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
