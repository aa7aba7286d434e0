import * as fs from 'node:fs/promises';
import { Code, CsiError, failedPrecondition, invalidArgument } from '../csi/status';
import { type Host, HostError, type MountRoot, type Usage } from '../host/host';
import { parseWords } from '../host/linux/mounts-words';
import { sameDevice, splitDevice } from '../util/device';
import { errnoOf } from '../util/files';
import { keyOf } from '../util/keys';
import type {
  AccessType,
  Backend,
  BytesAt,
  GrowOrder,
  SizeLimits,
  Staged,
  StageFacts,
  StageNote,
  StageOrder,
  Steps,
  VolumeFacts,
} from './backend';
import { letGo } from './let-go';
import { copyTree, fillTree } from './tree-copy';
import { treeUsage } from './tree-usage';

const MAX_BYTES = 2n ** 62n;
/** What a mount table shows as the source of a volume's tmpfs: what tells it when its own mount point is gone. */
export const tmpfsSource = (volumeId: string) => `fake-csi-${keyOf(volumeId)}`;
/** Suffix of the mount point where a tmpfs is being filled. */
export const FILLING = '.filling';
/** Backends whose volumes are file trees, staged by a bind mount. */
abstract class TreeBackend implements Backend {
  abstract readonly name: 'tmpfs' | 'directory';
  readonly accessTypes = ['mount'] as const;
  readonly blockImage = false;
  abstract readonly nodeGrows: boolean;

  constructor(protected readonly host: Host) {}

  chooseFsType(wanted: string): string {
    if (wanted === '' || wanted === this.name) return this.name;
    throw invalidArgument(
      `fs_type: expected ${this.name} or nothing (backend ${this.name}), found ${JSON.stringify(wanted)}`,
    );
  }

  limits(_fsType: string, _accessType: AccessType): SizeLimits {
    return { minimum: 4096n, maximum: MAX_BYTES };
  }

  async create(
    at: BytesAt,
    _capacity: bigint,
    source: BytesAt | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await fs.rm(at.tree, { recursive: true, force: true });
    if (source) await copyTree(source.tree, at.tree, signal);
    else await fs.mkdir(at.tree, { mode: 0o755 });
  }

  abstract destroy(volume: VolumeFacts): Promise<void>;
  async grow(): Promise<void> {}
  abstract copy(volume: VolumeFacts, from: BytesAt, to: BytesAt, signal: AbortSignal): Promise<void>;

  async stage(order: StageOrder, steps: Steps): Promise<Staged> {
    if (order.fsType !== '') this.chooseFsType(order.fsType);
    const { filesystem, superblock } = parseWords(order.mountFlags);
    const foreign = filesystem[0]?.key ?? superblock[0];
    if (foreign !== undefined)
      throw new HostError('EINVAL', 'mount', `${this.name} takes per-mount options only`, foreign);
    const source = await this.open(order, steps);
    await order.note({ fsType: this.name });
    await steps.point('noted');
    await this.host.mounts.bind({
      source,
      target: order.stagingPath,
      readOnly: order.readOnly,
      options: order.mountFlags,
    });
    steps.effect(`bound ${source} at ${order.stagingPath}`);
    try {
      await steps.point('mounted');
      const { mount: identity } = await this.host.mounts.look(order.stagingPath);
      if (!identity)
        throw new HostError('EIO', 'mount', `nothing is mounted at ${order.stagingPath} after the bind`);
      return { fsType: this.name, identity };
    } catch (error) {
      await letGo(this.host, order.stagingPath);
      throw error;
    }
  }

  /** The folder that holds the volume's files on this node. */
  protected abstract open(order: StageOrder, steps: Steps): Promise<string>;
  /** Where that folder is, for recognising our own mounts. */
  protected abstract sourceOf(volumeId: string, at: BytesAt): string;

  async inspect(stage: StageFacts, at: BytesAt): Promise<Staged | undefined> {
    const { mount: identity } = await this.host.mounts.look(stage.stagingPath);
    if (!identity || !(await this.isOurs(identity, this.sourceOf(stage.volumeId, at)))) return undefined;
    return { fsType: this.name, identity };
  }

  private async isOurs(identity: MountRoot, source: string): Promise<boolean> {
    const folder = await fs.stat(source, { bigint: true }).catch(() => undefined);
    return (
      folder !== undefined &&
      folder.ino === identity.rootInode &&
      sameDevice(splitDevice(folder.dev), identity.device)
    );
  }

  async loopOver(): Promise<boolean> {
    return false;
  }

  async release(): Promise<void> {}

  async remount(): Promise<StageNote> {
    return { remount: undefined };
  }

  abstract growStaged(order: GrowOrder): Promise<void>;
  abstract usage(volume: VolumeFacts, staged: Staged, path: string): Promise<Usage>;
}

/** A folder, bind-mounted. Nothing enforces its size, and it says so in its stats' total only. */
export class DirectoryBackend extends TreeBackend {
  readonly name = 'directory';
  readonly nodeGrows = false;

  async destroy(): Promise<void> {}

  async copy(_volume: VolumeFacts, from: BytesAt, to: BytesAt, signal: AbortSignal): Promise<void> {
    await copyTree(from.tree, to.tree, signal);
  }

  protected async open({ volume, at }: StageOrder): Promise<string> {
    // A folder that is gone is never made anew: an empty volume in place of a lost one would be a lie.
    await fs.access(at.tree).catch((error) => {
      if (errnoOf(error) !== 'ENOENT') throw error;
      const lost = `the folder of volume ${volume.id}, ${at.tree}, is gone; restore it, or delete the volume`;
      throw new CsiError(Code.DATA_LOSS, lost);
    });
    return at.tree;
  }

  protected sourceOf(_volumeId: string, at: BytesAt): string {
    return at.tree;
  }

  async growStaged(): Promise<void> {}

  usage(volume: VolumeFacts, _staged: Staged, path: string): Promise<Usage> {
    return treeUsage(path, BigInt(volume.capacityBytes));
  }
}

/**
 * One tmpfs a volume, mounted from the first stage until the volume is deleted, so that its files outlive a pod. They do
 * not outlive a reboot, and they stay on the node: that is what a tmpfs is.
 */
export class TmpfsBackend extends TreeBackend {
  readonly name = 'tmpfs';
  readonly nodeGrows = true;

  constructor(
    host: Host,
    /** Mount point of a volume's tmpfs on this node; undefined in a process that is no node. */
    private readonly mountPointOf: (volumeId: string) => string | undefined,
  ) {
    super(host);
  }

  private mountPoint(volumeId: string): string {
    const mountPoint = this.mountPointOf(volumeId);
    if (mountPoint === undefined)
      throw failedPrecondition(
        `the files of tmpfs volume ${volumeId} are in the memory of its node; this process serves no node`,
      );
    return mountPoint;
  }

  async destroy(volume: VolumeFacts): Promise<void> {
    const mountPoint = this.mountPointOf(volume.id);
    if (mountPoint === undefined || !(await this.host.mounts.at(mountPoint))) return;
    await this.host.mounts.unmount(mountPoint);
    await fs.rmdir(mountPoint);
  }

  async copy(volume: VolumeFacts, from: BytesAt, to: BytesAt, signal: AbortSignal): Promise<void> {
    const mountPoint = this.mountPoint(volume.id);
    const source = (await this.host.mounts.at(mountPoint)) ? mountPoint : from.tree;
    await copyTree(source, to.tree, signal);
  }

  protected async open(order: StageOrder, steps: Steps): Promise<string> {
    const { volume, at } = order;
    const mountPoint = this.mountPoint(volume.id);
    await fs.mkdir(mountPoint, { recursive: true, mode: 0o700 });
    if (await this.host.mounts.at(mountPoint)) {
      await this.fit(mountPoint, volume);
      return mountPoint;
    }
    if (!volume.source) await this.mountTmpfs(mountPoint, volume);
    else await this.mountFilled(mountPoint, volume, at.tree);
    steps.effect(`mounted tmpfs of ${volume.capacityBytes} bytes`);
    return mountPoint;
  }

  /** It may have been expanded while it was not staged. */
  private async fit(mountPoint: string, volume: VolumeFacts): Promise<void> {
    const wanted = BigInt(volume.capacityBytes);
    const { bytes } = await this.host.mounts.usage(mountPoint);
    if (bytes.total < wanted) await this.host.mounts.resizeTmpfs(mountPoint, wanted);
  }

  private async mountTmpfs(target: string, volume: VolumeFacts): Promise<void> {
    const options = [`size=${volume.capacityBytes}`, 'mode=0755'];
    const source = tmpfsSource(volume.id);
    await this.host.mounts.mount({ fsType: 'tmpfs', source, target, readOnly: false, options });
  }

  /** Fills the tmpfs elsewhere first: what stands at the mount point is complete, whenever the process dies. */
  private async mountFilled(mountPoint: string, volume: VolumeFacts, source: string): Promise<void> {
    const filling = `${mountPoint}${FILLING}`;
    await fs.mkdir(filling, { recursive: true, mode: 0o700 });
    while (await this.host.mounts.at(filling)) await this.host.mounts.unmount(filling);
    await this.mountTmpfs(filling, volume);
    try {
      await fillTree(source, filling, new AbortController().signal);
      await this.host.mounts.bind({ source: filling, target: mountPoint, readOnly: false, options: [] });
    } finally {
      await this.host.mounts.unmount(filling);
      await fs.rmdir(filling);
    }
  }

  protected sourceOf(volumeId: string): string {
    return this.mountPoint(volumeId);
  }

  async growStaged({ volume }: GrowOrder): Promise<void> {
    await this.host.mounts.resizeTmpfs(this.mountPoint(volume.id), BigInt(volume.capacityBytes));
  }

  async usage(volume: VolumeFacts, _staged: Staged, path: string): Promise<Usage> {
    try {
      return await this.host.mounts.usage(path);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      throw failedPrecondition(`volume ${volume.id} is not mounted at ${path}`);
    }
  }
}
