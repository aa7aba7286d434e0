import { HostError } from '../host';
import { FSCONFIG, FSPICK, isErrno, type Libc, MS, OPEN_TREE } from '../libc';
import { type BindRequest, type MountApi, MountApiMissing, type MountRequest } from './mounts-api';
import { readContextLog } from './mounts-context-log';
import { explainCreate, type MountFailure, unknownType } from './mounts-explain';
import { type KernelLogWatch, watchKernelLog } from './mounts-kernel-log';
import { checkTarget } from './mounts-target';
import { bindAttributes, newMountAttributes } from './mounts-words';

/**
 * The calls of Linux 5.2 and 5.12: a mount is made complete with its flags, and then appears at its target in one
 * step. Nobody can see it half made.
 */
export function createContextApi(libc: Libc): MountApi {
  return {
    async mount(request) {
      const failure: MountFailure = {
        ...request,
        readOnly: isReadOnly(request),
        optionKeys: request.words.filesystem.map(({ key }) => key),
        kernelText: [],
      };
      const context = await openContext(libc, failure);
      // Only what has a device logs about it.
      const kernelLog = request.source.startsWith('/') ? watchKernelLog(libc) : null;
      let mount: number | undefined;
      try {
        await createSuperblock(libc, context, request, failure, kernelLog);
        const attributes = newMountAttributes(request.words, isReadOnly(request));
        mount = libc.fsmountSync(context, attributes);
        await attach(libc, mount, request.target);
      } finally {
        kernelLog?.close();
        // The last reference to a superblock unmounts it, which waits for its disk: never on the event loop. Once
        // there is a mount, the context holds none.
        if (mount === undefined) await libc.close(context);
        else {
          libc.closeSync(context);
          // A descriptor of a mount keeps it busy: it must be gone before anybody unmounts.
          await libc.close(mount);
        }
      }
    },

    async bind({ source, target, readOnly, words }: BindRequest) {
      // Side by side: both are one trip to the thread pool, and most of a bind's time is such trips.
      const [checked, opened] = await Promise.allSettled([
        checkTarget(libc, 'bind', target),
        missingAs(['ENOSYS', 'EPERM'], 'open_tree', () =>
          libc.openTree(source, OPEN_TREE.CLONE | OPEN_TREE.CLOEXEC),
        ),
      ]);
      if (opened.status === 'rejected') throw opened.reason;
      const tree = opened.value;
      try {
        if (checked.status === 'rejected') throw checked.reason;
        const { set, clear } = bindAttributes(words, readOnly);
        // A clone of a shared mount is its peer: what anybody mounts over one of the two then covers the other as well.
        // Made private while it is detached, it becomes shared anew, in a group of its own, where the target's folder is
        // shared, and so still shows in other mount namespaces.
        await missingAs(['ENOSYS', 'EPERM'], 'mount_setattr', async () =>
          libc.mountSetattrSync(tree, set, clear, MS.PRIVATE),
        );
        await libc.moveMount(tree, target);
      } finally {
        await libc.close(tree);
      }
    },

    async resizeTmpfs(target, sizeBytes) {
      const flags = FSPICK.CLOEXEC | FSPICK.SYMLINK_NOFOLLOW | FSPICK.NO_AUTOMOUNT;
      const context = await missingAs(['ENOSYS', 'EPERM'], 'fspick', () =>
        libc.fspick(target, flags).catch(nothingMounted(target)),
      );
      try {
        libc.fsconfigSetSync(context, 'size', sizeBytes.toString());
        await libc.fsconfigCommand(context, FSCONFIG.CMD_RECONFIGURE);
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        const kernelText = readContextLog(libc, context).join('; ');
        throw new HostError(
          error.errno,
          'resize',
          `resize: ${target}: ${error.errno}: tmpfs to ${sizeBytes} bytes: ${kernelText || 'the kernel gives no reason'}`,
        );
      } finally {
        await libc.close(context);
      }
    },
  };
}

function isReadOnly(request: MountRequest): boolean {
  return request.readOnly || request.words.readOnly === true;
}

async function openContext(libc: Libc, failure: MountFailure): Promise<number> {
  try {
    return await missingAs(['ENOSYS', 'EPERM'], 'fsopen', () => libc.fsopen(failure.fsType));
  } catch (error) {
    if (isErrno(error, 'ENODEV')) throw unknownType(failure);
    throw error;
  }
}

async function createSuperblock(
  libc: Libc,
  context: number,
  request: MountRequest,
  failure: MountFailure,
  kernelLog: KernelLogWatch | null,
): Promise<void> {
  let setting: string | undefined;
  try {
    for (const { key, value } of settingsOf(request)) {
      setting = key;
      // A filesystem may look up a path it is given (overlay does), and a lookup may hang.
      if (value?.includes('/') && key !== 'source') await libc.fsconfigSet(context, key, value);
      else libc.fsconfigSetSync(context, key, value);
    }
    setting = undefined;
    await libc.fsconfigCommand(context, FSCONFIG.CMD_CREATE);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const kernelText = [
      ...readContextLog(libc, context),
      ...(kernelLog?.linesAbout(request.source, request.fsType) ?? []),
    ];
    const refused = setting === undefined || setting === 'source' ? {} : { refused: setting };
    throw explainCreate(error, { ...failure, ...refused, kernelText });
  }
}

function settingsOf(request: MountRequest): { key: string; value?: string }[] {
  const { words, source } = request;
  return [
    ...(source === '' ? [] : [{ key: 'source', value: source }]),
    ...(isReadOnly(request) ? [{ key: 'ro' }] : []),
    ...words.superblock.map((key) => ({ key })),
    ...words.filesystem,
  ];
}

async function attach(libc: Libc, mount: number, target: string): Promise<void> {
  try {
    await libc.moveMount(mount, target);
  } catch (error) {
    // Kernels differ in the errno for a target of the wrong kind, and none says which it was.
    await checkTarget(libc, 'mount', target, 'folder');
    throw error;
  }
}

function nothingMounted(target: string): (error: unknown) => never {
  return (error) => {
    if (!isErrno(error, 'EINVAL')) throw error;
    throw new HostError('EINVAL', 'resize', `resize: ${target}: EINVAL: nothing is mounted there`);
  };
}

async function missingAs<T>(
  errnos: readonly ('ENOSYS' | 'EPERM')[],
  call: string,
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    for (const errno of errnos) if (isErrno(error, errno)) throw new MountApiMissing(call, errno);
    throw error;
  }
}

/** Whether this process can make mounts, tried on one that is attached nowhere: nothing is left of it. */
export async function tryDetachedMount(libc: Libc): Promise<void> {
  const context = await libc.fsopen('tmpfs');
  try {
    await libc.fsconfigCommand(context, FSCONFIG.CMD_CREATE);
    await libc.close(libc.fsmountSync(context, 0));
  } finally {
    await libc.close(context);
  }
}
