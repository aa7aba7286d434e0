import * as fs from 'node:fs';

/** Who has a loop device open or mounted, a line each, as far as /proc tells: for a failure that speaks of one. */
export function holdersOf(device: string | undefined): string[] {
  if (device === undefined) return [];
  const number = readOr('', `/sys/block/${device.replace('/dev/', '')}/dev`).trim();
  const namespaces = new Set<string>();
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const who = `process ${pid} (${readOr('gone', `/proc/${pid}/comm`).trim()})`;
      const namespace = linkOf(`/proc/${pid}/ns/mnt`);
      const mounts = namespaces.has(namespace) ? [] : mountsOf(pid, device, number);
      namespaces.add(namespace);
      return [
        ...descriptorsOf(pid, device).map((fd) => `${who} has ${device} open as ${fd}`),
        ...mounts.map((line) => `${who} sees it mounted in ${namespace}: ${line}`),
      ];
    });
}

function mountsOf(pid: string, device: string, number: string): string[] {
  return readOr('', `/proc/${pid}/mountinfo`)
    .split('\n')
    .filter((line) => line.split(' ')[2] === number || line.includes(` ${device} `));
}

function descriptorsOf(pid: string, device: string): string[] {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).filter((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === device);
  } catch {
    return [];
  }
}

function readOr(other: string, file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return other;
  }
}

function linkOf(file: string): string {
  try {
    return fs.readlinkSync(file);
  } catch {
    return '';
  }
}
