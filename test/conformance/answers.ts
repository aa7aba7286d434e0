import type { CsiClient } from '../../src/csi/client';
import { schemaEnums, schemaMessages } from '../../src/csi/gen/schema';
import { type Method, methods, rpcs } from '../../src/csi/rpcs';

/** Fields of answers that CSI 1.12 requires and whose default would mean absence, by message. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  GetPluginInfoResponse: ['name', 'vendor_version'],
  'VolumeContentSource.SnapshotSource': ['snapshot_id'],
  'VolumeContentSource.VolumeSource': ['volume_id'],
  CreateVolumeResponse: ['volume'],
  VolumeCapability: ['access_mode'],
  'VolumeCapability.AccessMode': ['mode'],
  Volume: ['volume_id'],
  'ValidateVolumeCapabilitiesResponse.Confirmed': ['volume_capabilities'],
  'ListVolumesResponse.Entry': ['volume'],
  'ListSnapshotsResponse.Entry': ['snapshot'],
  ControllerGetVolumeResponse: ['volume', 'status'],
  CreateSnapshotResponse: ['snapshot'],
  GetSnapshotResponse: ['snapshot'],
  Snapshot: ['snapshot_id', 'source_volume_id', 'creation_time'],
  ControllerExpandVolumeResponse: ['capacity_bytes'],
  // The total too, but btrfs has no number of inodes that could run out, and says 0.
  VolumeUsage: ['unit'],
  VolumeCondition: ['message'],
  NodeGetInfoResponse: ['node_id'],
  CreateVolumeGroupSnapshotResponse: ['group_snapshot'],
  GetVolumeGroupSnapshotResponse: ['group_snapshot'],
  VolumeGroupSnapshot: ['group_snapshot_id', 'snapshots', 'creation_time'],
  BlockMetadata: ['size_bytes'],
  GetMetadataAllocatedResponse: ['block_metadata_type'],
  GetMetadataDeltaResponse: ['block_metadata_type'],
};

const MAP_LIMIT = 4096;
const limitOf = (field: string) =>
  /^(node_id|published_node_ids)$/.test(field) ? 256 : field === 'name' ? 63 : 128;

/** What an answer breaks of the Size Limits, of the signs of numbers, of enums and of what is required, each in one line. */
export function violations(typeName: string, message: object, at = ''): string[] {
  const found: string[] = [];
  const short = typeName.replace(/^csi\.v1\./, '');
  const values = message as Record<string, unknown>;
  for (const name of REQUIRED[short] ?? []) {
    const value = values[name];
    const empty = !value || value === '0' || (Array.isArray(value) && value.length === 0);
    if (empty) found.push(`${at}${name}: required, but it is ${JSON.stringify(value)}`);
  }
  for (const [name, field] of Object.entries(schemaMessages[typeName]?.fields ?? {})) {
    const value = values[name];
    if (value === null || value === undefined) continue;
    const where = `${at}${name}`;
    if (field.label === 'map') {
      const entries = Object.entries(value as Record<string, string>);
      const bytes = entries.reduce((sum, [k, v]) => sum + Buffer.byteLength(k) + Buffer.byteLength(v), 0);
      if (bytes > MAP_LIMIT) found.push(`${where}: a map of ${bytes} bytes`);
      continue;
    }
    const items = field.label === 'repeated' ? (value as unknown[]) : [value];
    for (const item of items)
      if (field.kind === 'message') found.push(...violations(field.type, item as object, `${where}.`));
      else if (field.kind === 'enum') {
        if (!Object.values(schemaEnums[field.type] ?? {}).includes(item as number))
          found.push(`${where}: the number ${item}, which is no value of ${field.type}`);
      } else if (field.type === 'string') {
        if (Buffer.byteLength(item as string) > limitOf(name))
          found.push(`${where}: a string of ${Buffer.byteLength(item as string)} bytes`);
      } else if (/^u?int/.test(field.type) && BigInt(item as string) < 0n)
        found.push(`${where}: the negative number ${item}`);
  }
  return found;
}

/** The client, with every answer held to the rules for answers, whatever the test is about. */
export function heldToTheRules(csi: CsiClient): CsiClient {
  const check = (method: Method, answer: object) => {
    const { responseType } = rpcs[method];
    const messages = Array.isArray(answer) ? answer : [answer];
    expect(messages.flatMap((message) => violations(responseType, message, `${method}: `))).toEqual([]);
    return answer;
  };
  const calls = methods.map((method) => [
    method,
    async (...words: unknown[]) =>
      check(method, await (csi[method] as (...w: unknown[]) => Promise<object>)(...words)),
  ]);
  return Object.assign(Object.fromEntries(calls), { close: () => csi.close() }) as CsiClient;
}
