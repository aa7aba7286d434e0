import type { FsType } from '../host';
import type { MountWords } from '../linux/mounts-words';

const COMMON = 'context fscontext defcontext rootcontext discard nodiscard acl noacl barrier nobarrier';

/** Names of the options each type takes (Documentation/filesystems and man 5 of each), as far as volumes use them. */
const KNOWN: Readonly<Record<FsType | 'tmpfs', ReadonlySet<string>>> = {
  ext4: names(
    'journal_checksum nojournal_checksum journal_async_commit journal_path journal_dev norecovery noload data ' +
      'data_err commit barrier inode_readahead_blks stripe delalloc nodelalloc max_batch_time min_batch_time ' +
      'journal_ioprio auto_da_alloc noauto_da_alloc noinit_itable init_itable nouid32 user_xattr nouser_xattr ' +
      'block_validity noblock_validity dioread_lock dioread_nolock max_dir_size_kb i_version dax sb resuid resgid ' +
      'errors debug grpid nogrpid bsdgroups sysvgroups minixdf bsddf quota noquota usrquota grpquota prjquota ' +
      'usrjquota grpjquota jqfmt resize mb_optimize_scan prefetch_block_bitmaps no_prefetch_block_bitmaps abort ' +
      'warn_on_error nowarn_on_error test_dummy_encryption inlinecrypt',
  ),
  xfs: names(
    'allocsize attr2 noattr2 dax filestreams grpid nogrpid bsdgroups sysvgroups ikeep noikeep inode32 inode64 ' +
      'largeio nolargeio logbufs logbsize logdev rtdev noalign norecovery nouuid noquota uquota usrquota quota ' +
      'uqnoenforce qnoenforce gquota grpquota gqnoenforce pquota prjquota pqnoenforce sunit swidth swalloc wsync ' +
      'lifetime max_atomic_write zoned',
  ),
  btrfs: names(
    'autodefrag noautodefrag check_int clear_cache commit compress compress-force datacow nodatacow datasum ' +
      'nodatasum degraded device enospc_debug noenospc_debug fatal_errors flushoncommit noflushoncommit fragment ' +
      'ignorebadroots ignoredatacsums ignoremetacsums ignoresuperflags max_inline metadata_ratio norecovery nologreplay ' +
      'rescan_uuid_tree rescue skip_balance space_cache nospace_cache ssd ssd_spread nossd nossd_spread subvol ' +
      'subvolid thread_pool treelog notreelog user_subvol_rm_allowed usebackuproot recovery',
  ),
  tmpfs: names(
    'size nr_blocks nr_inodes mode uid gid huge mpol inode32 inode64 noswap quota usrquota grpquota ' +
      'usrquota_block_hardlimit usrquota_inode_hardlimit grpquota_block_hardlimit grpquota_inode_hardlimit ' +
      'casefold strict_encoding',
  ),
};

function names(list: string): ReadonlySet<string> {
  return new Set(`${COMMON} ${list}`.split(' '));
}

/** The first word that is neither generic nor one of the filesystem's, or undefined. */
export function refusedOption(fsType: FsType | 'tmpfs', words: MountWords): string | undefined {
  return words.filesystem.find(({ key }) => !KNOWN[fsType].has(key))?.key;
}

const UNITS: Readonly<Record<string, bigint>> = {
  '': 1n,
  k: 1n << 10n,
  m: 1n << 20n,
  g: 1n << 30n,
  t: 1n << 40n,
};

/** `size=` of a tmpfs in bytes, `64m` and the like included; undefined when there is none or it is no number. */
export function tmpfsSize(words: MountWords): bigint | undefined {
  const value = words.filesystem.findLast(({ key }) => key === 'size')?.value;
  const match = /^(\d{1,19})([kmgt]?)$/i.exec(value ?? '');
  const unit = UNITS[(match?.[2] ?? '').toLowerCase()];
  return match === null || unit === undefined ? undefined : BigInt(match[1] ?? '') * unit;
}
