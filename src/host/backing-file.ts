const UNLINKED = ' (deleted)';

/** The path of a file behind a loop device, without what the kernel puts behind it when the file was unlinked (d_path). */
export function withoutUnlinkedMark(file: string): string {
  return file.endsWith(UNLINKED) ? file.slice(0, -UNLINKED.length) : file;
}
