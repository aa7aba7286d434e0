import type { JournalCall } from './calls';
import type { PvcNames } from './entry';

/** What the journal itself says of a volume: from the CreateVolume that made it. */
export interface IndexedVolume {
  readonly id: string;
  readonly name: string;
  readonly pvc: PvcNames;
  readonly parameters: Readonly<Record<string, string>>;
  /** volume_context of the answer. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly capacityBytes: bigint | undefined;
  /** VolumeCapability messages as the journal keeps them. */
  readonly capabilities: readonly object[];
}

/** Volumes that are gone are remembered as long as there is room: calls about them are looked at later. */
const MAX_VOLUMES = 50_000;

/** Volumes by id, so that calls which name nothing but an id can be found by claim. */
export class VolumeIndex {
  private readonly volumes = new Map<string, IndexedVolume>();
  private readonly byName = new Map<string, string>();

  constructor(private readonly max = MAX_VOLUMES) {}

  get(id: string | undefined): IndexedVolume | undefined {
    return id === undefined ? undefined : this.volumes.get(id);
  }

  idOf(name: string): string | undefined {
    return this.byName.get(name);
  }

  /** Learns from an answered CreateVolume; any other call says nothing new. */
  add(call: JournalCall): void {
    if (call.method !== 'CreateVolume' || call.code !== 'OK' || call.volumeId === undefined) return;
    const volume = describe(call, call.volumeId);
    this.volumes.delete(volume.id);
    this.volumes.set(volume.id, volume);
    this.byName.set(volume.name, volume.id);
    if (this.volumes.size <= this.max) return;
    const [oldest] = this.volumes.values();
    if (!oldest) return;
    this.volumes.delete(oldest.id);
    if (this.byName.get(oldest.name) === oldest.id) this.byName.delete(oldest.name);
  }

  /** The claim of the volume a call is about. */
  pvcOf(call: JournalCall): PvcNames {
    if (call.pvc) return call.pvc;
    if (call.method === 'CreateVolume') return claimOf(parametersOf(call.request));
    return this.get(call.volumeId)?.pvc ?? {};
  }
}

interface CreateRequest {
  name?: unknown;
  parameters?: Record<string, string>;
  volume_capabilities?: object[];
  capacity_range?: { required_bytes?: unknown };
}

interface CreateResponse {
  volume?: { volume_context?: Record<string, string>; capacity_bytes?: unknown };
}

function describe(call: JournalCall, id: string): IndexedVolume {
  const { name, volume_capabilities = [], capacity_range } = call.request as CreateRequest;
  const { volume } = (call.response ?? {}) as CreateResponse;
  const parameters = parametersOf(call.request);
  return {
    id,
    name: typeof name === 'string' ? name : '',
    pvc: call.pvc ?? claimOf(parameters),
    parameters,
    attributes: volume?.volume_context ?? {},
    capacityBytes: bytes(volume?.capacity_bytes) ?? bytes(capacity_range?.required_bytes),
    capabilities: volume_capabilities,
  };
}

function parametersOf(request: object): Record<string, string> {
  return (request as CreateRequest).parameters ?? {};
}

/** external-provisioner --extra-create-metadata */
function claimOf(parameters: Readonly<Record<string, string>>): PvcNames {
  const namespace = parameters['csi.storage.k8s.io/pvc/namespace'];
  const name = parameters['csi.storage.k8s.io/pvc/name'];
  return { ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
}

/** int64 as the journal writes it: decimal digits. */
export function bytes(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : undefined;
}
