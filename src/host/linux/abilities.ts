import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { FS_TYPES, type FsType, type HostAbilities, HostError } from '../host';
import { describeErrno, type Libc } from '../libc';
import { TOOL_PACKAGES } from './filesystems-tools';
import type { LoopNodes } from './loops-nodes';
import { tryDetachedMount } from './mounts-context';

export interface AbilitiesDependencies {
  libc: Libc;
  nodes: LoopNodes;
  /** Default `/proc`. */
  proc?: string;
  /** Where programs are looked for (default: $PATH). */
  searchPath?: string;
  /** And where as well (default: the sbin folders, which a service's PATH often lacks). */
  sbin?: readonly string[];
}

/** Bits of CapEff (linux/capability.h). */
const CAP_SYS_ADMIN = 21n;
const CAP_SYS_RESOURCE = 24n;

const SBIN = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** Finds out by trying, and leaves nothing behind; some ten milliseconds, for the first loop device most of it. */
export async function findAbilities(deps: AbilitiesDependencies): Promise<HostAbilities> {
  const proc = deps.proc ?? '/proc';
  const privileges = await readPrivileges(proc);
  const [mount, loop, filesystems] = await Promise.all([
    mountAbility(deps.libc, privileges),
    loopAbility(deps.nodes, privileges),
    filesystemAbilities(deps, proc),
  ]);
  return { mount, loop, growMountedExt4: growAbility(privileges), filesystems };
}

interface Privileges {
  has(capability: bigint): boolean;
  /** Capabilities of another user namespace than the first say nothing about devices. */
  initialUserNamespace: boolean;
}

async function readPrivileges(proc: string): Promise<Privileges> {
  const status = await fs.readFile(join(proc, 'self/status'), 'utf8');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  const uidMap = await fs.readFile(join(proc, 'self/uid_map'), 'utf8').catch(() => '');
  return {
    has: (capability) => ((effective >> capability) & 1n) === 1n,
    initialUserNamespace: uidMap === '' || /^\s*0\s+0\s+4294967295\s*$/.test(uidMap),
  };
}

async function mountAbility(libc: Libc, privileges: Privileges): Promise<true | string> {
  if (!privileges.has(CAP_SYS_ADMIN)) {
    return 'Mounting needs CAP_SYS_ADMIN, which this process lacks: run it as root, in a container with privileged: true.';
  }
  try {
    await tryDetachedMount(libc);
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    // Without the newer calls mount(2) serves, and that one cannot be tried without leaving a trace.
    if (error.errno === 'ENOSYS' && error.operation === 'fsopen') return true;
    return (
      `A trial mount of tmpfs failed with ${describeErrno(error.errno)} in ${error.operation} although CAP_SYS_ADMIN is there: ` +
      'a seccomp or AppArmor profile may forbid it; run the container with privileged: true.'
    );
  }
}

async function loopAbility(nodes: LoopNodes, privileges: Privileges): Promise<true | string> {
  if (!privileges.has(CAP_SYS_ADMIN)) {
    return 'Loop devices need CAP_SYS_ADMIN, which this process lacks: run it as root, in a container with privileged: true.';
  }
  if (!privileges.initialUserNamespace) {
    return 'Loop devices cannot be used from a user namespace: run the driver as root of the machine itself.';
  }
  try {
    await nodes.freeIndex();
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (['ENODEV', 'ENXIO', 'ENOENT'].includes(error.errno)) {
      return `The kernel has no loop devices (${error.message}): load the module with "modprobe loop".`;
    }
    return `Loop devices cannot be had (${error.message}): run the container with privileged: true and the host's /dev.`;
  }
}

function growAbility(privileges: Privileges): true | string {
  if (privileges.has(CAP_SYS_RESOURCE) && privileges.initialUserNamespace) return true;
  return (
    'Growing a mounted ext4 needs CAP_SYS_RESOURCE, which this process lacks: grant it (privileged: true does); ' +
    'until then an ext4 volume grows at its next stage.'
  );
}

async function filesystemAbilities(
  deps: AbilitiesDependencies,
  proc: string,
): Promise<HostAbilities['filesystems']> {
  const known = new Set(
    (await fs.readFile(join(proc, 'filesystems'), 'utf8'))
      .split('\n')
      .map((line) => line.split('\t')[1] ?? ''),
  );
  const entries = await Promise.all(
    FS_TYPES.map(async (type) => [type, await filesystemAbility(deps, known, type)] as const),
  );
  return Object.fromEntries(entries) as HostAbilities['filesystems'];
}

async function filesystemAbility(
  { libc, searchPath = process.env.PATH ?? '', sbin = SBIN }: AbilitiesDependencies,
  known: ReadonlySet<string>,
  type: FsType,
): Promise<true | string> {
  const tool = `mkfs.${type}` as const;
  if (!(await isInOneOf([...searchPath.split(':'), ...sbin], tool))) {
    return `${tool} is not installed: install the package ${TOOL_PACKAGES[tool]}.`;
  }
  if (known.has(type)) return true;
  try {
    // Loads the module, where there is one.
    await libc.close(await libc.fsopen(type));
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return (
      `The kernel does not know ${type} (${error.errno}): load its module with "modprobe ${type}" on the node, ` +
      'or use another filesystem type.'
    );
  }
}

async function isInOneOf(folders: readonly string[], tool: string): Promise<boolean> {
  // An empty entry of $PATH means the working directory: no place for tools of root.
  for (const folder of folders.filter((entry) => entry !== '')) {
    try {
      await fs.access(join(folder, tool), fs.constants.X_OK);
      return true;
    } catch {
      // Not here.
    }
  }
  return false;
}
