import * as fs from 'node:fs/promises';

/**
 * Who has a block device open or mounted, a phrase each, as far as /proc shows: processes of this pid namespace, of which
 * root sees all. Reads every process's descriptors and every namespace's mount table, so only for an error that ends a call.
 * @param device `major:minor`, and the name by which processes have it open.
 */
export async function holdersOf(device: { number: string; path: string }): Promise<string[]> {
  const pids = (await fs.readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found: string[] = [];
  const namespaces = new Set<string>();
  for (const pid of pids) {
    const open = await descriptorsOf(pid, device.path);
    const namespace = await orEmpty(fs.readlink(`/proc/${pid}/ns/mnt`));
    const mounts = namespaces.has(namespace) ? [] : await mountsOf(pid, device);
    namespaces.add(namespace);
    if (open.length === 0 && mounts.length === 0) continue;
    const who = `process ${pid} (${(await orEmpty(fs.readFile(`/proc/${pid}/comm`, 'utf8'))).trim()})`;
    if (open.length > 0) found.push(`${who} has it open`);
    for (const at of mounts) found.push(`it is mounted at ${at} where ${who} is`);
  }
  return found;
}

async function descriptorsOf(pid: string, path: string): Promise<string[]> {
  const names = await fs.readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => orEmpty(fs.readlink(`/proc/${pid}/fd/${name}`))));
  return links.filter((link) => link === path);
}

/** By number, or by name where the filesystem has a number of its own (btrfs). */
async function mountsOf(pid: string, { number, path }: { number: string; path: string }): Promise<string[]> {
  const table = await orEmpty(fs.readFile(`/proc/${pid}/mountinfo`, 'utf8'));
  return table
    .split('\n')
    .filter((line) => line.split(' ')[2] === number || line.includes(` ${path} `))
    .map((line) => line.split(' ')[4] ?? '');
}

/** What is gone or not for our eyes holds nothing that we could tell. */
const orEmpty = (text: Promise<string>): Promise<string> => text.catch(() => '');
