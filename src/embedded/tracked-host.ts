import type { LoopDevice, LoopDevices } from '../host/host';
import type { MemoryHost } from '../host/memory';
import type { Turns } from '../util/turns';

/** A machine whose work makes virtual time stand still, and whose processes leave no open descriptor behind. */
export interface TrackedHost {
  readonly host: MemoryHost;
  /** What the kernel does when the process that used the machine has ended. */
  closeDescriptors(): Promise<void>;
}

export function trackedHost(host: MemoryHost, turns: Turns): TrackedHost {
  const { mounts, loops, filesystems, disks } = host;
  const open = new Set<LoopDevice>();
  return {
    host: {
      ...host,
      mounts: tracked(mounts, turns),
      loops: remembering(tracked(loops, turns), open),
      filesystems: tracked(filesystems, turns),
      disks: tracked(disks, turns),
    },
    closeDescriptors: async () => {
      for (const device of open) await device.release();
      open.clear();
    },
  };
}

function remembering(loops: LoopDevices, open: Set<LoopDevice>): LoopDevices {
  const remembered = (device: LoopDevice): LoopDevice => {
    open.add(device);
    const release = async () => {
      open.delete(device);
      await device.release();
    };
    return { ...device, release };
  };
  return new Proxy(loops, {
    get: (target, name, receiver) => {
      if (name === 'attach')
        return async (...args: Parameters<LoopDevices['attach']>) => remembered(await target.attach(...args));
      if (name === 'open')
        return async (index: number) => {
          const device = await target.open(index);
          return device && remembered(device);
        };
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
}

function tracked<T extends object>(part: T, turns: Turns): T {
  return new Proxy(part, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(member, target, args);
        return result instanceof Promise ? turns.track(result) : result;
      };
    },
  });
}
