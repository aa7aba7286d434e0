import { HostError, type MountEntry } from '../host';

/**
 * Parses /proc/<pid>/mountinfo (Documentation/filesystems/proc.rst, section 3.5). A `root` or `mountPoint` that was
 * removed while mounted ends in `//deleted`, as the kernel writes it: no real path holds two slashes, so it never
 * equals one.
 */
export function parseMountinfo(text: string): MountEntry[] {
  const entries: MountEntry[] = [];
  for (const line of text.split('\n')) {
    if (line !== '') entries.push(parseLine(line));
  }
  return entries;
}

function parseLine(line: string): MountEntry {
  // By single spaces: an empty source leaves two in a row.
  const fields = line.split(' ');
  // Optional fields, as many as there are, stand between the sixth field and a lone hyphen.
  const separator = fields.indexOf('-', 6);
  const [mountId, parentId, device, root, mountPoint, options] = fields;
  const [fsType, source, superOptions] = fields.slice(separator + 1);
  if (
    separator === -1 ||
    mountId === undefined ||
    parentId === undefined ||
    device === undefined ||
    root === undefined ||
    mountPoint === undefined ||
    options === undefined ||
    fsType === undefined ||
    source === undefined ||
    superOptions === undefined
  ) {
    throw unreadable(line);
  }
  const [major, minor] = device.split(':').map(Number);
  if (major === undefined || minor === undefined || !/^\d+ \d+ \d+:\d+ /.test(line)) throw unreadable(line);
  return {
    mountId: BigInt(mountId),
    parentId: BigInt(parentId),
    device: { major, minor },
    root: unescapeOctal(root),
    mountPoint: unescapeOctal(mountPoint),
    options: options.split(','),
    fsType: unescapeOctal(fsType),
    source: unescapeOctal(source),
    superOptions: superOptions.split(',').map(unescapeOctal),
    propagation: fields.slice(6, separator),
  };
}

/** The kernel writes space, tab, newline, backslash and `#` as a backslash and three octal digits. */
function unescapeOctal(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

function unreadable(line: string): HostError {
  return new HostError(
    'EINVAL',
    'mountinfo',
    `mountinfo: expected "id parent major:minor root target options … - type source options", found "${line}"`,
  );
}
