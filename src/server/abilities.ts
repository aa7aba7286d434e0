import type { HostAbilities } from '../host/host';

/** One thing that a machine lets a driver do, or why not. */
export interface Ability {
  name: string;
  available: boolean;
  /** Why not, and what to do. */
  why?: string;
}

export const MOUNT_PROPAGATION = 'mounts reach the kubelet';

export function ability(name: string, found: true | string): Ability {
  return found === true ? { name, available: true } : { name, available: false, why: found };
}

/** What `doctor` shows. */
export function abilitiesOf({ mount, loop, growMountedExt4, filesystems }: HostAbilities): Ability[] {
  return [
    ability('mount', mount),
    ability('loop devices', loop),
    ...Object.entries(filesystems).map(([fsType, found]) => ability(fsType, found)),
    ability('grow a mounted ext4', growMountedExt4),
  ];
}
