import { HostError } from '../host';
import { isErrno, type Libc, MS, ST, UMOUNT } from '../libc';
import type { MountApi } from './mounts-api';
import { explainCreate, type MountFailure, unknownType } from './mounts-explain';
import { watchKernelLog } from './mounts-kernel-log';
import { checkTarget } from './mounts-target';
import {
  attributesOfStatfs,
  bindAttributes,
  classicAttributeFlags,
  classicSuperblockFlags,
  newMountAttributes,
} from './mounts-words';

/**
 * mount(2), for kernels and seccomp filters without the newer calls. A bind gets its flags in a second step, so a
 * read-only one is writable for a moment, and a bind of a shared mount is its peer: mount(2) offers nothing better. (Made
 * private once it is attached, it would part from its own copies in other mount namespaces too, which an unmount would then
 * leave behind.)
 */
export function createClassicApi(libc: Libc): MountApi {
  return {
    async mount({ fsType, source, target, readOnly, words }) {
      // mount(2) follows a link.
      await checkTarget(libc, 'mount', target, 'folder');
      const onlyRead = readOnly || words.readOnly === true;
      const failure: MountFailure = {
        fsType,
        source,
        target,
        readOnly: onlyRead,
        optionKeys: words.filesystem.map(({ key }) => key),
        kernelText: [],
      };
      const attributes = newMountAttributes(words, onlyRead);
      const flags = classicAttributeFlags(attributes) | classicSuperblockFlags(words.superblock);
      const data = words.filesystem.map(({ key, value }) => (value === undefined ? key : `${key}=${value}`));
      const kernelLog = watchKernelLog(libc);
      try {
        await libc.mount(source, target, fsType, flags, data.join(','));
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        if (error.errno === 'ENODEV') throw unknownType(failure);
        const kernelText = kernelLog?.linesAbout(source, fsType) ?? [];
        throw explainCreate(error, { ...failure, kernelText });
      } finally {
        kernelLog?.close();
      }
    },

    async bind({ source, target, readOnly, words }) {
      // mount(2) follows a link.
      await checkTarget(libc, 'bind', target);
      await libc.mount(source, target, null, MS.BIND, null);
      const { set, clear } = bindAttributes(words, readOnly);
      if ((set | clear) === 0) return;
      try {
        // A remount replaces all flags of the mount: those to keep must be given again.
        const kept = attributesOfStatfs((await libc.statfs(target)).flags) & ~clear;
        await libc.mount(null, target, null, MS.REMOUNT | MS.BIND | classicAttributeFlags(kept | set), null);
      } catch (error) {
        await libc.umount2(target, UMOUNT.DETACH | UMOUNT.NOFOLLOW);
        throw error;
      }
    },

    async resizeTmpfs(target, sizeBytes) {
      const { flags } = await libc.statfs(target);
      const kept = classicAttributeFlags(attributesOfStatfs(flags)) | (Number(flags) & ST.SYNCHRONOUS);
      try {
        await libc.mount(null, target, null, MS.REMOUNT | kept, `size=${sizeBytes}`);
      } catch (error) {
        if (!isErrno(error, 'EINVAL', 'ENOSPC')) throw error;
        throw new HostError(
          error.errno,
          'resize',
          `resize: ${target}: ${error.errno}: tmpfs to ${sizeBytes} bytes: it is no tmpfs, or holds more already`,
        );
      }
    },
  };
}
