import * as path from 'node:path';
import type { CsiClient } from '../../src/csi/client';
import type { CsiMethod } from '../../src/csi/rpcs';
import { CsiError } from '../../src/csi/status';
import type { Observation } from './expectation';
import type { Operation, Operations, Rpc } from './operations';
import { capabilityOf, type Names, rangeOf, snapshotReply, volumeReply } from './translate';

/** Longer than any call takes, so that one that hangs is found. */
const TIMEOUT_MS = 30_000;

export interface Places {
  /** Parent of the staging paths. */
  staging: string;
  /** Parent of the targets. */
  targets: string;
  /** Where a name of either kind is. */
  of(name: string): string;
}

export function placesIn(dir: string): Places {
  const staging = path.join(dir, 'staging');
  const targets = path.join(dir, 'pods');
  return {
    staging,
    targets,
    of: (name) => (name === '' ? '' : path.join(name.startsWith('t') ? targets : staging, name)),
  };
}

type Client = Pick<CsiClient, CsiMethod>;
type Senders = { [R in Rpc]: (csi: Client, operation: Operations[R]) => Promise<unknown> };

/** Makes real calls of operations, and says what came of them in the names of the sequence. */
export class Sender {
  /** Publish contexts by what they must only depend on. */
  private readonly contexts = new Map<string, Record<string, string>>();
  private readonly sources = new Map<string, string[]>();

  constructor(
    private readonly names: Names,
    private readonly places: Places,
    private readonly ownNode: string,
    private readonly parameters: Record<string, string>,
  ) {}

  /** @param pick the client that the call goes by. */
  async send(csi: Client, operation: Operation): Promise<Observation> {
    const settled = this.settle(operation);
    try {
      const send = this.senders[settled.rpc] as (csi: Client, operation: Operation) => Promise<unknown>;
      const reply = await send(csi, settled);
      return { operation: settled, code: 'OK', message: '', reply };
    } catch (error) {
      if (!(error instanceof CsiError)) throw error;
      return { operation: settled, code: error.codeName, message: error.message, reply: undefined };
    }
  }

  /** What an operation leaves open until it is sent. */
  private settle(operation: Operation): Operation {
    if (!('members' in operation) || operation.members !== 'own') return operation;
    return { ...operation, members: (this.sources.get(operation.g) ?? []).map((v) => `${operation.g}/${v}`) };
  }

  /** Which entry of a listing one page begins behind, and what it holds. */
  async page(csi: Client, of: 'volumes' | 'snapshots', max: number, token: string) {
    const request = { max_entries: max, starting_token: token };
    if (of === 'volumes') {
      const { entries, next_token } = await csi.ListVolumes(request, TIMED);
      return { found: entries.map(({ volume }) => volumeReply(this.names, volume).v), token: next_token };
    }
    const { entries, next_token } = await csi.ListSnapshots(request, TIMED);
    return { found: entries.map(({ snapshot }) => snapshotReply(this.names, snapshot).s), token: next_token };
  }

  private readonly senders: Senders = {
    CreateVolume: async (csi, { v, range, access, groupable, protect, source }) => {
      const id = source ? this.names.id(source.of) : '';
      const { volume } = await csi.CreateVolume(
        {
          name: v,
          capacity_range: rangeOf(range),
          volume_capabilities: access.map(capabilityOf),
          parameters: { ...this.parameters, ...(groupable ? {} : { groupable: 'false' }) },
          mutable_parameters: protect ? { deletionProtection: 'true' } : {},
          volume_content_source:
            source &&
            (source.kind === 'volume' ? { volume: { volume_id: id } } : { snapshot: { snapshot_id: id } }),
        },
        TIMED,
      );
      this.names.learn(v, volume?.volume_id ?? '');
      return volumeReply(this.names, volume);
    },
    DeleteVolume: (csi, { v }) => csi.DeleteVolume({ volume_id: this.names.id(v) }, TIMED),
    ControllerPublishVolume: async (csi, { v, node, access, readonly }) => {
      const request = {
        volume_id: this.names.id(v),
        node_id: node,
        volume_capability: capabilityOf(access),
        readonly,
      };
      const { publish_context: context } = await csi.ControllerPublishVolume(request, TIMED);
      const key = `${v} ${node} ${readonly}`;
      const before = this.contexts.get(key) ?? context;
      this.contexts.set(key, context);
      return { sameContext: JSON.stringify(before) === JSON.stringify(context) };
    },
    ControllerUnpublishVolume: (csi, { v, node }) =>
      csi.ControllerUnpublishVolume({ volume_id: this.names.id(v), node_id: node }, TIMED),
    ValidateVolumeCapabilities: async (csi, { v, access }) => {
      const request = { volume_id: this.names.id(v), volume_capabilities: [capabilityOf(access)] };
      const { confirmed, message } = await csi.ValidateVolumeCapabilities(request, TIMED);
      return { confirmed: confirmed !== null, message };
    },
    ControllerGetVolume: async (csi, { v }) => {
      const { volume, status } = await csi.ControllerGetVolume({ volume_id: this.names.id(v) }, TIMED);
      return {
        ...volumeReply(this.names, volume),
        nodes: [...(status?.published_node_ids ?? [])].sort(),
        abnormal: status?.volume_condition?.abnormal,
      };
    },
    ControllerExpandVolume: async (csi, { v, range, access }) => {
      const request = {
        volume_id: this.names.id(v),
        capacity_range: rangeOf(range),
        volume_capability: access && capabilityOf(access),
      };
      const reply = await csi.ControllerExpandVolume(request, TIMED);
      return { size: BigInt(reply.capacity_bytes), nodeExpansion: reply.node_expansion_required };
    },
    ControllerModifyVolume: (csi, { v, changes }) =>
      csi.ControllerModifyVolume({ volume_id: this.names.id(v), mutable_parameters: changes }, TIMED),
    ListVolumes: (csi, { max }) =>
      allPages(async (starting_token) => {
        const { entries, next_token } = await csi.ListVolumes({ max_entries: max, starting_token }, TIMED);
        const found = entries.map(({ volume, status }) => ({
          ...volumeReply(this.names, volume),
          nodes: [...(status?.published_node_ids ?? [])].sort(),
        }));
        return { found, token: next_token };
      }),
    GetCapacity: async (csi) => {
      const { available_capacity } = await csi.GetCapacity({}, TIMED);
      return { available: BigInt(available_capacity) };
    },
    CreateSnapshot: async (csi, { s, v, dependent }) => {
      const parameters: Record<string, string> = dependent ? { dependent: 'true' } : {};
      const request = { name: s, source_volume_id: this.names.id(v), parameters };
      const { snapshot } = await csi.CreateSnapshot(request, TIMED);
      this.names.learn(s, snapshot?.snapshot_id ?? '');
      return snapshotReply(this.names, snapshot);
    },
    DeleteSnapshot: (csi, { s }) => csi.DeleteSnapshot({ snapshot_id: this.names.id(s) }, TIMED),
    GetSnapshot: async (csi, { s }) =>
      snapshotReply(this.names, (await csi.GetSnapshot({ snapshot_id: this.names.id(s) }, TIMED)).snapshot),
    ListSnapshots: (csi, { max, s, v }) =>
      allPages(async (starting_token) => {
        const filter = { snapshot_id: this.names.id(s), source_volume_id: this.names.id(v) };
        const request = { max_entries: max, starting_token, ...filter };
        const { entries, next_token } = await csi.ListSnapshots(request, TIMED);
        return {
          found: entries.map(({ snapshot }) => snapshotReply(this.names, snapshot)),
          token: next_token,
        };
      }),
    GetMetadataAllocated: async (csi, { s }) => {
      const [first] = await csi.GetMetadataAllocated({ snapshot_id: this.names.id(s) }, TIMED);
      return { size: BigInt(first?.volume_capacity_bytes ?? 0) };
    },
    CreateVolumeGroupSnapshot: async (csi, { g, vs }) => {
      const request = { name: g, source_volume_ids: vs.map((v) => this.names.id(v)) };
      const { group_snapshot } = await csi.CreateVolumeGroupSnapshot(request, TIMED);
      for (const { snapshot_id, source_volume_id } of group_snapshot?.snapshots ?? [])
        this.names.learn(`${g}/${this.names.name(source_volume_id)}`, snapshot_id);
      this.names.learn(g, group_snapshot?.group_snapshot_id ?? '');
      this.sources.set(g, vs);
      return this.groupReply(group_snapshot);
    },
    DeleteVolumeGroupSnapshot: (csi, operation) =>
      csi.DeleteVolumeGroupSnapshot(this.groupRequest(operation), TIMED),
    GetVolumeGroupSnapshot: async (csi, operation) =>
      this.groupReply((await csi.GetVolumeGroupSnapshot(this.groupRequest(operation), TIMED)).group_snapshot),
    NodeStageVolume: (csi, { v, at, access, context }) => {
      const other = { attachment: 'of another volume' };
      const own = this.contexts.get(`${v} ${this.ownNode} false`) ?? {};
      const publish_context = context === 'own' ? own : context === 'other' ? other : {};
      const request = {
        volume_id: this.names.id(v),
        staging_target_path: this.places.of(at),
        volume_capability: capabilityOf(access),
        publish_context,
      };
      return csi.NodeStageVolume(request, TIMED);
    },
    NodeUnstageVolume: (csi, { v, at }) =>
      csi.NodeUnstageVolume({ volume_id: this.names.id(v), staging_target_path: this.places.of(at) }, TIMED),
    NodePublishVolume: (csi, { v, at, target, access, readonly }) => {
      const request = {
        volume_id: this.names.id(v),
        staging_target_path: this.places.of(at),
        target_path: this.places.of(target),
        volume_capability: capabilityOf(access),
        readonly,
      };
      return csi.NodePublishVolume(request, TIMED);
    },
    NodeUnpublishVolume: (csi, { v, target }) =>
      csi.NodeUnpublishVolume({ volume_id: this.names.id(v), target_path: this.places.of(target) }, TIMED),
    NodeGetVolumeStats: async (csi, { v, path: name }) => {
      const request = { volume_id: this.names.id(v), volume_path: this.places.of(name) };
      const { usage, volume_condition } = await csi.NodeGetVolumeStats(request, TIMED);
      return { total: BigInt(usage[0]?.total ?? 0), abnormal: volume_condition?.abnormal };
    },
    NodeExpandVolume: async (csi, { v, path: name, range }) => {
      const volume_path = this.places.of(name);
      const request = { volume_id: this.names.id(v), volume_path, capacity_range: rangeOf(range) };
      return { size: BigInt((await csi.NodeExpandVolume(request, TIMED)).capacity_bytes) };
    },
  };

  private groupRequest({ g, members }: { g: string; members: 'own' | string[] }) {
    return { group_snapshot_id: this.names.id(g), snapshot_ids: [...members].map((s) => this.names.id(s)) };
  }

  private groupReply(group: Awaited<ReturnType<CsiClient['GetVolumeGroupSnapshot']>>['group_snapshot']) {
    if (!group) throw new Error('expected a group_snapshot in the reply');
    return {
      g: this.names.name(group.group_snapshot_id),
      ready: group.ready_to_use,
      members: group.snapshots.map((snapshot) => snapshotReply(this.names, snapshot)),
    };
  }
}

const TIMED = { timeoutMs: TIMEOUT_MS };

async function allPages<T>(read: (token: string) => Promise<{ found: T[]; token: string }>): Promise<T[]> {
  const all: T[] = [];
  let token = '';
  do {
    const page = await read(token);
    all.push(...page.found);
    token = page.token;
  } while (token !== '');
  return all;
}
