import type { MemoryHost } from '../../host/memory';
import type { Turns } from '../../util/turns';

/** The same machine; virtual time stands still while it does something. */
export function trackedHost(host: MemoryHost, turns: Turns): MemoryHost {
  const { mounts, loops, filesystems, disks } = host;
  return {
    ...host,
    mounts: tracked(mounts, turns),
    loops: tracked(loops, turns),
    filesystems: tracked(filesystems, turns),
    disks: tracked(disks, turns),
  };
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
