import { type FsType, HostError, type ProbeResult } from '../host';

/**
 * Measured with xfsprogs 6.1 and btrfs-progs 6.2: one byte less is refused. ext4 can be made on 128 KiB, but holds a
 * dozen files then: the limit leaves room for twenty.
 */
export const MINIMUM_BYTES: Readonly<Record<FsType, bigint>> = {
  ext4: 256n << 10n,
  xfs: 300n << 20n,
  btrfs: 109n << 20n,
};

/** Bytes of the longest label (ext4: s_volume_name, xfs: XFSLABEL_MAX, btrfs: BTRFS_LABEL_SIZE with its zero). */
export const LABEL_BYTES: Readonly<Record<FsType, number>> = { ext4: 16, xfs: 12, btrfs: 255 };

export function checkLabel(fsType: FsType, label: string): void {
  const bytes = Buffer.byteLength(label);
  if (bytes <= LABEL_BYTES[fsType]) return;
  const limit = `a label of ${fsType} has at most ${LABEL_BYTES[fsType]} bytes`;
  throw new HostError(
    'EINVAL',
    `mkfs.${fsType}`,
    `mkfs.${fsType}: ${limit}, and this one has ${bytes}: ${label}`,
  );
}

/**
 * Refuses to make a filesystem where something is, or where it does not fit; `holds` is asked only when the size will do.
 * @throws HostError EINVAL, EEXIST.
 */
export async function checkFormattable(
  file: string,
  fsType: FsType,
  sizeBytes: bigint,
  holds: () => Promise<ProbeResult>,
): Promise<void> {
  const operation = `mkfs.${fsType}`;
  if (sizeBytes < MINIMUM_BYTES[fsType]) {
    const needs = `${fsType} needs at least ${MINIMUM_BYTES[fsType]}`;
    throw new HostError('EINVAL', operation, `${operation}: ${file} has ${sizeBytes} bytes; ${needs}`);
  }
  const found = await holds();
  if (found.kind === 'blank') return;
  const what = found.kind === 'filesystem' ? `${found.fsType} ${found.uuid}` : found.what;
  const message = `${operation}: ${file} is not blank, it holds ${what}. Nothing was written`;
  throw new HostError('EEXIST', operation, message);
}
