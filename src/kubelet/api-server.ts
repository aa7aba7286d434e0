import type { Clock } from '../util/clock';
import {
  type CsiDriverObject,
  keyOfObject,
  type ManifestObject,
  type NodeObject,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type Secret,
  type StorageClass,
  type VolumeAttachment,
} from './objects';
import type { Seeded } from './seeded';

/** What a client asks for; Go's client writes the verb so. */
export type ApiVerb = 'Get' | 'Post' | 'Put' | 'Patch' | 'Delete';

/** A table of objects of one kind. Whoever changes an object in it says so with ApiServer.changed(). */
export class Table<T extends { readonly meta: { name: string; namespace: string; uid: string } }> {
  private readonly objects = new Map<string, T>();

  constructor(private readonly changed: () => void) {}

  get(key: string): T | undefined {
    return this.objects.get(key);
  }

  add(object: T): void {
    this.objects.set(keyOfObject(object.meta), object);
    this.changed();
  }

  remove(object: T): void {
    if (this.objects.get(keyOfObject(object.meta)) !== object) return;
    this.objects.delete(keyOfObject(object.meta));
    this.changed();
  }

  all(): T[] {
    return [...this.objects.values()];
  }
}

/**
 * What everybody knows: the objects of a cluster, and who wants to hear that one changed. While it is down they are what a
 * running process has of them in its informers: since nobody can write, the two do not differ.
 */
export class ApiServer {
  private readonly watchers = new Set<() => void>();
  private readonly notify = () => this.changed();
  readonly pods = new Table<Pod>(this.notify);
  readonly claims = new Table<PersistentVolumeClaim>(this.notify);
  readonly volumes = new Table<PersistentVolume>(this.notify);
  readonly storageClasses = new Table<StorageClass>(this.notify);
  readonly csiDrivers = new Table<CsiDriverObject>(this.notify);
  readonly secrets = new Table<Secret>(this.notify);
  readonly attachments = new Table<VolumeAttachment>(this.notify);
  readonly nodes = new Table<NodeObject>(this.notify);

  constructor(
    readonly clock: Clock,
    private readonly seeded: Seeded,
  ) {}

  /** Tells those that watch; they look at what they are about themselves. */
  changed(): void {
    for (const watcher of [...this.watchers]) watcher();
  }

  /** @returns the function that ends it. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private wentAt: number | undefined;

  get isDown(): boolean {
    return this.wentAt !== undefined;
  }

  /** clock.now() of its end; undefined while it answers. */
  get downSince(): number | undefined {
    return this.wentAt;
  }

  /** Its process ends: nobody reads or writes an object any more. The objects themselves stay as they are. */
  stop(): void {
    this.wentAt ??= this.clock.now();
    this.changed();
  }

  start(): void {
    this.wentAt = undefined;
    this.changed();
  }

  /**
   * How a request of this moment fails, in the words of Go's client; undefined when it is answered. There is no address in
   * it: the API server here has none.
   */
  failureOf(verb: ApiVerb, path: string): string | undefined {
    return this.isDown ? `${verb} "${path}": dial tcp: connect: connection refused` : undefined;
  }

  /** @throws Error while nobody answers */
  request(verb: ApiVerb, path: string): void {
    const failure = this.failureOf(verb, path);
    if (failure !== undefined) throw new Error(failure);
  }

  private made = 0;

  /** A uid that was never given before; the same for the same seed and order. */
  uid(what: string): string {
    this.made += 1;
    return this.seeded.uuid(`uid ${this.made} ${what}`);
  }

  add(object: ManifestObject): void {
    const table = this.tables()[object.kind] as unknown as Table<ManifestObject>;
    table.add(object);
  }

  private tables() {
    return {
      Pod: this.pods,
      PersistentVolumeClaim: this.claims,
      PersistentVolume: this.volumes,
      StorageClass: this.storageClasses,
      CSIDriver: this.csiDrivers,
      Secret: this.secrets,
      VolumeAttachment: this.attachments,
    } as const;
  }

  has(object: ManifestObject): boolean {
    return this.tables()[object.kind].get(keyOfObject(object.meta)) !== undefined;
  }

  claimOf(pod: Pod, claimName: string): PersistentVolumeClaim | undefined {
    return this.claims.get(`${pod.meta.namespace}/${claimName}`);
  }

  /** The volume that a claim is bound to. */
  volumeOf(claim: PersistentVolumeClaim): PersistentVolume | undefined {
    return claim.volumeName === undefined ? undefined : this.volumes.get(claim.volumeName);
  }

  /** A driver without a CSIDriver object is attached. */
  isAttachRequired(driver: string): boolean {
    return this.csiDrivers.get(driver)?.attachRequired ?? true;
  }
}
