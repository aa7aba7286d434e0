import type { MountWords } from './mounts-words';

export interface MountRequest {
  fsType: string;
  source: string;
  target: string;
  readOnly: boolean;
  words: MountWords;
}

export interface BindRequest {
  source: string;
  target: string;
  readOnly: boolean;
  words: MountWords;
}

/** One of the kernel's two families of calls that make mounts. */
export interface MountApi {
  mount(request: MountRequest): Promise<void>;
  /**
   * The new mount is no peer of its source (mount_namespaces(7)), whatever the source's propagation; by mount(2) it is one
   * where the source is shared.
   */
  bind(request: BindRequest): Promise<void>;
  resizeTmpfs(target: string, sizeBytes: bigint): Promise<void>;
}

/** The kernel, or a container's seccomp filter, does not offer a call of this family; nothing was done. */
export class MountApiMissing extends Error {
  override readonly name = 'MountApiMissing';
  constructor(
    readonly call: string,
    /** ENOSYS is for ever; EPERM may as well be a lack of privilege. */
    readonly errno: 'ENOSYS' | 'EPERM',
  ) {
    super(`${call}: ${errno}`);
  }
}
