import { closeSync, constants, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { type Libc, SEEK } from '../libc';
import { escapeRegExp } from './mounts-explain';

/** What the kernel logs between two moments. Filesystems tell why a mount failed there and nowhere else. */
export interface KernelLogWatch {
  /** Warnings and worse about `device` or `fsType` since the watch began, without the prefix, oldest first. */
  linesAbout(device: string, fsType: string): string[];
  close(): void;
}

const DEVICE = '/dev/kmsg';
/** One record at most is this long (LOG_LINE_MAX plus its dictionary). */
const RECORD_SIZE = 8192;
const WARNING = 4;
/** More would be a dump of the damaged block, not a reason. */
const MAXIMUM_LINES = 3;
const MAXIMUM_RECORDS = 500;

/** Null where the log may not be read (a container without /dev/kmsg, no CAP_SYSLOG): errors are then less telling. */
export function watchKernelLog(libc: Libc): KernelLogWatch | null {
  let fd: number;
  try {
    // A character device in memory: neither open nor read ever waits.
    fd = openSync(DEVICE, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    libc.lseekSync(fd, 0n, SEEK.END);
  } catch {
    closeSync(fd);
    return null;
  }
  return {
    linesAbout: (device, fsType) => readLines(fd, mentions(device, fsType)),
    close: () => closeSync(fd),
  };
}

/**
 * `EXT4-fs (loop3): …`, `BTRFS error (device loop3 state E): …`, `/dev/loop3: …`; and what is said before the device is
 * known: `BTRFS error: …`, `ext4: Unknown parameter …`.
 */
function mentions(device: string, fsType: string): (line: string) => boolean {
  const aboutDevice = new RegExp(`\\b${escapeRegExp(basename(device))}\\b`);
  const aboutType = new RegExp(`^${escapeRegExp(fsType)}(?:-fs)?(?: [a-z]+)?: `, 'i');
  return (line) => aboutDevice.test(line) || aboutType.test(line);
}

function readLines(fd: number, wanted: (line: string) => boolean): string[] {
  const lines: string[] = [];
  const buffer = Buffer.alloc(RECORD_SIZE);
  for (let records = 0; records < MAXIMUM_RECORDS && lines.length < MAXIMUM_LINES; records++) {
    let length: number;
    try {
      length = readSync(fd, buffer, 0, RECORD_SIZE, null);
    } catch (error) {
      // EPIPE: records were overwritten before we came; the next read goes on behind them. EAGAIN: the end.
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') continue;
      break;
    }
    const line = parseRecord(buffer.toString('utf8', 0, length));
    if (line !== null && wanted(line) && !lines.includes(withoutPrefix(line)))
      lines.push(withoutPrefix(line));
  }
  return lines;
}

/** `level,sequence,microseconds,flags;text`, then dictionary lines (Documentation/ABI/testing/dev-kmsg). */
function parseRecord(record: string): string | null {
  const [, priority, text] = /^(\d+),[^;]*;([^\n]*)/.exec(record) ?? [];
  if (priority === undefined || text === undefined || (Number(priority) & 7) > WARNING) return null;
  // XFS dumps the bytes of a block it cannot read, under a heading.
  return /\): [0-9a-f]{8}: |:$/.test(text) ? null : text;
}

/** The error says the device and the type already. */
function withoutPrefix(line: string): string {
  return line.replace(/^[A-Z0-9]+(?:-fs)?(?: [a-z]+)?(?: \((?:device )?[^)]*\))?:? /, '').trim();
}
