import type { VolumeCapability } from '../csi/gen/csi/v1/VolumeCapability';
import type { ClientRequestOf } from '../csi/rpcs';
import { type CallSetting, Calls } from './calls';
import { block, mount } from './capability';
import type { Strings } from './hints';
import { Scratch } from './scratch';

export interface ProbeSetting extends CallSetting {
  /** Folder for the staging and target paths of this case, not there yet. */
  readonly folder: string;
  /** Distinguishes the names of this case from all others. */
  readonly suffix: string;
  /** Size of an ordinary volume in bytes. */
  readonly sizeBytes: bigint;
  /** The node's socket, as given. */
  readonly socket: string;
  readonly hasControllerSocket: boolean;
  /** Runs the driver with these variables until it ends or the time is up: undefined then. */
  readonly runDriver?: (environment: Strings) => Promise<DriverRun | undefined>;
  /** Texts of all log files and records of the driver: undefined where nobody said where they are. */
  readonly readTraces?: () => Promise<string>;
}

/** How a driver process ended that was started in a wrong way. */
export interface DriverRun {
  readonly code: number | null;
  readonly stderr: string;
}

export interface MadeVolume {
  readonly id: string;
  readonly context: Strings;
  readonly bytes: bigint;
  readonly capability: VolumeCapability;
}

/** A volume that was attached and staged, as far as the driver knows these. */
export interface StagedVolume extends MadeVolume {
  readonly publishContext: Strings;
  /** Empty where nothing is staged. */
  readonly staging: string;
}

export interface PublishedVolume extends StagedVolume {
  readonly target: string;
}

export type VolumeFields = Partial<ClientRequestOf<'CreateVolume'>> & {
  readonly capability?: VolumeCapability;
};

/** What a case has in hand: a driver, and a volume's life with it. Whatever it makes is taken back after the case. */
export class Probe extends Calls {
  readonly scratch: Scratch;
  private last = 0;

  constructor(readonly given: ProbeSetting) {
    super(given);
    this.scratch = new Scratch(given.folder);
  }

  name(): string {
    this.last += 1;
    return `conformance-${this.given.suffix}-${this.last}`;
  }

  get size(): bigint {
    return this.given.sizeBytes;
  }

  /** A CreateVolume that any driver has to serve. */
  creation({ capability = mount(), ...fields }: VolumeFields = {}) {
    return {
      name: this.name(),
      capacity_range: { required_bytes: `${this.size}` },
      volume_capabilities: [capability],
      parameters: { ...this.hints.parameters },
      ...fields,
    } satisfies ClientRequestOf<'CreateVolume'>;
  }

  /** Parameters beside those that every volume gets. */
  parameters(more: Strings | undefined): Record<string, string> {
    return { ...this.hints.parameters, ...more };
  }

  async volume(fields: VolumeFields = {}): Promise<MadeVolume> {
    const request = this.creation(fields);
    const { volume } = await this.ok('CreateVolume', request);
    this.that((volume?.volume_id ?? '') !== '', 'a volume with an id', volume);
    return {
      id: volume?.volume_id ?? '',
      context: volume?.volume_context ?? {},
      bytes: BigInt(volume?.capacity_bytes ?? 0),
      capability: fields.capability ?? mount(),
    };
  }

  /** A volume of a kind that not every driver makes. @throws NotApplicable when it is refused */
  async volumeIfMade(what: string, fields: VolumeFields): Promise<MadeVolume> {
    const request = this.creation(fields);
    const { code } = await this.call('CreateVolume', request);
    if (code !== 'OK') this.skip(`no volume ${what}: ${code}`);
    return this.volume({ ...fields, name: request.name });
  }

  blockVolume(): Promise<MadeVolume> {
    return this.volumeIfMade('for raw block access', { capability: block() });
  }

  /** The publish context; empty where the driver does not attach. */
  async attach(volume: MadeVolume, node_id = this.nodeId, readonly = false): Promise<Strings> {
    if (!this.serves('ControllerPublishVolume')) return {};
    const answer = await this.ok('ControllerPublishVolume', this.attachment(volume, { node_id, readonly }));
    return answer.publish_context;
  }

  attachment(volume: MadeVolume, fields: Partial<ClientRequestOf<'ControllerPublishVolume'>> = {}) {
    return {
      volume_id: volume.id,
      node_id: this.nodeId,
      volume_capability: volume.capability,
      volume_context: volume.context,
      ...fields,
    };
  }

  /** @throws NotApplicable where there is no Node service */
  get nodeId(): string {
    return this.facts.node?.node_id ?? this.skip('no Node service that tells its id');
  }

  async stage(volume: MadeVolume): Promise<StagedVolume> {
    const publishContext = await this.attach(volume);
    if (!this.serves('NodeStageVolume')) return { ...volume, publishContext, staging: '' };
    const staged = { ...volume, publishContext, staging: await this.scratch.folder() };
    await this.ok('NodeStageVolume', this.staging(staged));
    return staged;
  }

  /** A volume that is attached, with the folder to stage it at. */
  async attached(volume: MadeVolume): Promise<StagedVolume> {
    return { ...volume, publishContext: await this.attach(volume), staging: await this.scratch.folder() };
  }

  staging(staged: StagedVolume, fields: Partial<ClientRequestOf<'NodeStageVolume'>> = {}) {
    return {
      volume_id: staged.id,
      publish_context: staged.publishContext,
      staging_target_path: staged.staging,
      volume_capability: staged.capability,
      volume_context: staged.context,
      ...fields,
    };
  }

  publication(
    staged: StagedVolume,
    target_path: string,
    fields: Partial<ClientRequestOf<'NodePublishVolume'>> = {},
  ) {
    return { ...this.staging(staged), target_path, readonly: false, ...fields };
  }

  async publish(staged: StagedVolume): Promise<PublishedVolume> {
    const published = { ...staged, target: await this.scratch.target() };
    await this.ok('NodePublishVolume', this.publication(staged, published.target));
    return published;
  }

  /** A volume that a workload could use. */
  async published(fields: VolumeFields = {}): Promise<PublishedVolume> {
    return this.publish(await this.stage(await this.volume(fields)));
  }

  async unpublish({ id, target }: PublishedVolume): Promise<void> {
    await this.ok('NodeUnpublishVolume', { volume_id: id, target_path: target });
  }

  async unstage({ id, staging }: StagedVolume): Promise<void> {
    if (this.serves('NodeUnstageVolume'))
      await this.ok('NodeUnstageVolume', { volume_id: id, staging_target_path: staging });
  }

  async detach({ id }: MadeVolume): Promise<void> {
    if (this.serves('ControllerUnpublishVolume'))
      await this.ok('ControllerUnpublishVolume', { volume_id: id, node_id: this.nodeId });
  }

  /** Staged, or published where nothing is staged: `path` is where. */
  async place(volume: MadeVolume): Promise<StagedVolume & { readonly path: string }> {
    const staged = await this.stage(volume);
    if (staged.staging !== '') return { ...staged, path: staged.staging };
    const published = await this.publish(staged);
    return { ...published, path: published.target };
  }

  cutting(source_volume_id: string, more?: Strings) {
    return {
      name: this.name(),
      source_volume_id,
      parameters: { ...this.hints.snapshotParameters, ...more },
    } satisfies ClientRequestOf<'CreateSnapshot'>;
  }

  async snapshot(source_volume_id: string, more?: Strings) {
    const { snapshot } = await this.ok('CreateSnapshot', this.cutting(source_volume_id, more));
    if (!snapshot?.snapshot_id) throw this.failure('a snapshot with an id', JSON.stringify(snapshot));
    return snapshot;
  }

  async group(source_volume_ids: string[], more?: Strings) {
    const answer = await this.ok('CreateVolumeGroupSnapshot', {
      name: this.name(),
      source_volume_ids,
      parameters: { ...this.hints.snapshotParameters, ...more },
    });
    const group = answer.group_snapshot;
    if (!group?.group_snapshot_id) throw this.failure('a group with an id', JSON.stringify(group));
    return {
      group,
      ids: {
        group_snapshot_id: group.group_snapshot_id,
        snapshot_ids: group.snapshots.map(({ snapshot_id }) => snapshot_id),
      },
    };
  }

  /** Everything that the case made is taken back. @returns one line for each thing left behind */
  async cleanUp(): Promise<string[]> {
    const left = await this.ledger.undo((method, request) => this.send(method, request));
    return [...left, ...(await this.scratch.remove())];
  }
}
