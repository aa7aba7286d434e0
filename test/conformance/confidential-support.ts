import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import type { VolumeCapability } from '../../src/csi/gen/csi/v1/VolumeCapability';
import { schemaMessages } from '../../src/csi/gen/schema';
import { type CsiMethod, methods, rpcs } from '../../src/csi/rpcs';
import { CsiError } from '../../src/csi/status';
import type { Log } from '../../src/util/log';
import type { TestDriver } from '../support/driver';
import { MIB } from '../support/lifecycle';

export const SECRET = 'marker-secret-5b1e';
export const FLAG = 'marker-flag-77c0';
export const secrets = { password: SECRET, 'a.b-c_d': `${SECRET}-other` };
export const withSecrets = methods.filter(
  (method) => schemaMessages[rpcs[method].requestType]?.fields.secrets,
);

/** Everything that a driver says, at one log level, as the command logs it. */
export function logOf(level: string): { log: Log; text: () => string } {
  let text = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { log: pino({ level, base: null }, sink), text: () => text };
}

/** All files below a folder, as text, but for the bytes of volumes. */
export async function filesOf(folder: string): Promise<string> {
  let text = '';
  for (const entry of await fs.readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || entry.name.startsWith('disk.img')) continue;
    const file = path.join(entry.parentPath, entry.name);
    text += `${file}\n${await fs.readFile(file, 'utf8')}\n`;
  }
  return text;
}

/** Answers, good and bad, as a client gets them. */
export class Answers {
  text = '';
  readonly codes = new Map<CsiMethod, string[]>();

  async of(method: CsiMethod, call: Promise<unknown>): Promise<unknown> {
    const answer = await call.catch((error) => error);
    const failed = answer instanceof CsiError;
    this.codes.set(method, [...(this.codes.get(method) ?? []), failed ? answer.codeName : 'OK']);
    this.text += failed ? answer.message : JSON.stringify(answer);
    return answer;
  }
}

/** What a request says in confidence, word for word. */
export function confidence(request: object): string {
  const {
    secrets: own = {},
    volume_capability: one,
    volume_capabilities: many = [],
  } = request as {
    secrets?: Record<string, string>;
    volume_capability?: { mount?: { mount_flags?: string[] } } | null;
    volume_capabilities?: { mount?: { mount_flags?: string[] } }[];
  };
  const flags = [one, ...many].flatMap((capability) => capability?.mount?.mount_flags ?? []);
  return [...Object.values(own), ...flags].join(' ');
}

/** Every RPC that carries secrets, once, so that all of them can succeed. */
export async function lifecycle(
  driver: TestDriver,
  answers: Answers,
  { size, capability }: { size: number; capability: VolumeCapability },
): Promise<void> {
  const call = async (method: CsiMethod, fields: object) =>
    (await answers.of(method, driver.csi[method]({ ...fields, secrets } as never))) as never;
  const id = (found: unknown, field: string) =>
    (found as Record<string, Record<string, string>>)?.[field] ?? {};

  const created = await call('CreateVolume', {
    name: 'v',
    volume_capabilities: [capability],
    capacity_range: { required_bytes: `${size}` },
  });
  const volume_id = id(created, 'volume').volume_id ?? 'unknown';
  const use = { volume_id, volume_capability: capability };
  const attached = (await call('ControllerPublishVolume', { ...use, node_id: 'node-1' })) as {
    publish_context?: object;
  };
  await call('ValidateVolumeCapabilities', { volume_id, volume_capabilities: [capability] });
  const staging_target_path = await driver.folder('staging');
  const stage = { ...use, staging_target_path, publish_context: attached.publish_context ?? {} };
  await call('NodeStageVolume', stage);
  const target_path = await driver.target('target');
  await call('NodePublishVolume', { ...stage, target_path });
  const capacity_range = { required_bytes: `${size + 20 * MIB}` };
  await call('ControllerExpandVolume', { ...use, capacity_range });
  await call('NodeExpandVolume', { ...use, volume_path: target_path, staging_target_path });
  await call('ControllerModifyVolume', { volume_id, mutable_parameters: { readAheadKiB: '64' } });
  const cut = await call('CreateSnapshot', { name: 's', source_volume_id: volume_id });
  const snapshot_id = id(cut, 'snapshot').snapshot_id ?? 'unknown';
  await call('GetSnapshot', { snapshot_id });
  await call('ListSnapshots', {});
  await call('GetMetadataAllocated', { snapshot_id });
  await call('GetMetadataDelta', { base_snapshot_id: snapshot_id, target_snapshot_id: snapshot_id });
  const grouped = (await call('CreateVolumeGroupSnapshot', {
    name: 'g',
    source_volume_ids: [volume_id],
  })) as {
    group_snapshot?: { group_snapshot_id: string; snapshots: { snapshot_id: string }[] };
  };
  const members = {
    group_snapshot_id: grouped.group_snapshot?.group_snapshot_id ?? 'unknown',
    snapshot_ids: grouped.group_snapshot?.snapshots.map((member) => member.snapshot_id) ?? ['unknown'],
  };
  await call('GetVolumeGroupSnapshot', members);
  await call('DeleteVolumeGroupSnapshot', members);
  await call('DeleteSnapshot', { snapshot_id });
  await driver.csi.NodeUnpublishVolume({ volume_id, target_path });
  await driver.csi.NodeUnstageVolume({ volume_id, staging_target_path });
  await call('ControllerUnpublishVolume', { volume_id });
  await call('DeleteVolume', { volume_id });
}
