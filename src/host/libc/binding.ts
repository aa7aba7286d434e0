import { HostError } from '../host';
import { type About, systemCallError } from './errno';

/**
 * The C functions in use, each with one fixed prototype: a wrong pointer is the end of the process, so no caller
 * chooses types. Variadic functions are given fixed arguments, which the Linux calling conventions of x64 and arm64
 * allow for integers and pointers. No named koffi type is made: names are global to the process and a second
 * registration (another Jest file of the same worker) throws.
 */
const PROTOTYPES = {
  open: 'int open(const char *path, int flags, int mode)',
  close: 'int close(int fd)',
  read: 'long read(int fd, void *buffer, size_t size)',
  mount:
    'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
  umount2: 'int umount2(const char *target, int flags)',
  ioctlPointer: 'int ioctl(int fd, unsigned long request, void *argument)',
  ioctlValue: 'int ioctl(int fd, unsigned long request, uintptr_t argument)',
  lseek: 'int64_t lseek(int fd, int64_t offset, int whence)',
  statfs: 'int statfs(const char *path, void *buffer)',
  fstatfs: 'int fstatfs(int fd, void *buffer)',
  flock: 'int flock(int fd, int operation)',
  syncfs: 'int syncfs(int fd)',
  fsync: 'int fsync(int fd)',
  // The C library's own wrappers of these came late (glibc 2.36, musl later): by number they work on all.
  statx: 'long syscall(long number, int dirfd, const char *path, int flags, unsigned int mask, void *buffer)',
  copyFileRange:
    'long syscall(long number, int in, void *inOffset, int out, void *outOffset, size_t length, unsigned int flags)',
  mknodat: 'long syscall(long number, int dirfd, const char *path, unsigned int mode, unsigned int device)',
  openTree: 'long syscall(long number, int dirfd, const char *path, unsigned int flags)',
  moveMount:
    'long syscall(long number, int from, const char *fromPath, int to, const char *toPath, unsigned int flags)',
  mountSetattr:
    'long syscall(long number, int dirfd, const char *path, unsigned int flags, void *attributes, size_t size)',
  fsopen: 'long syscall(long number, const char *type, unsigned int flags)',
  fspick: 'long syscall(long number, int dirfd, const char *path, unsigned int flags)',
  fsconfig:
    'long syscall(long number, int fd, unsigned int command, const char *key, const char *value, int auxiliary)',
  fsmount: 'long syscall(long number, int fd, unsigned int flags, unsigned int attributes)',
} as const;

export type FunctionName = keyof typeof PROTOTYPES;
export type Argument = number | bigint | string | Buffer | null;
type Result = number | bigint;

interface NativeFunction {
  (...args: Argument[]): Result;
  async(...args: [...Argument[], (error: Error | null, result: Result) => void]): void;
}

/** C functions by name, called in this thread or in libuv's pool; -1 becomes a HostError. */
export interface Binding {
  callSync(name: FunctionName, args: readonly Argument[], about: About): bigint;
  call(name: FunctionName, args: readonly Argument[], about: About): Promise<bigint>;
}

type Koffi = typeof import('koffi');

export function loadKoffi(): Koffi {
  if (process.platform !== 'linux') {
    throw new HostError(
      'ENOSYS',
      'load',
      `mounts and loop devices need Linux; this is ${process.platform}. Use the memory backend here`,
    );
  }
  try {
    return require('koffi') as Koffi;
  } catch (cause) {
    throw new HostError(
      'ENOSYS',
      'load',
      `the native module koffi cannot be loaded on ${process.platform}-${process.arch}: ${(cause as Error).message.split('\n')[0]}. ` +
        'Install with optional dependencies (npm install --include=optional), or use the memory backend',
    );
  }
}

/** Text goes to the kernel as a C string: a NUL inside would silently cut a path or an option. */
function refuseNul(args: readonly Argument[], about: About): void {
  for (const argument of args) {
    if (typeof argument === 'string' && argument.includes('\0')) {
      throw new HostError(
        'EINVAL',
        about.operation,
        `${about.operation}: ${JSON.stringify(argument)} holds a NUL character`,
      );
    }
  }
}

/** Loads koffi at once (6 ms); see `createLibc` for the lazy use of it. */
export function loadBinding(): Binding {
  const koffi = loadKoffi();
  // The symbols of the process itself: no library name, so the same code serves glibc and musl.
  const library = koffi.load(null);
  const functions = new Map<FunctionName, NativeFunction>();
  const native = (name: FunctionName): NativeFunction => {
    let found = functions.get(name);
    if (found === undefined) {
      found = library.func(PROTOTYPES[name]) as NativeFunction;
      functions.set(name, found);
    }
    return found;
  };

  // The kernel writes to Buffers of calls in flight: they must not be collected meanwhile, whoever forgot them.
  const inFlight = new Set<readonly Argument[]>();

  return {
    callSync(name, args, about) {
      refuseNul(args, about);
      const result = BigInt(native(name)(...args));
      if (result === -1n) throw systemCallError(koffi.errno(), about);
      return result;
    },
    call(name, args, about) {
      return new Promise((resolve, reject) => {
        refuseNul(args, about);
        inFlight.add(args);
        native(name).async(...args, (error, result) => {
          // koffi carries the worker's errno over to this callback and no further: read it before anything else.
          const errno = koffi.errno();
          inFlight.delete(args);
          if (error !== null) reject(error);
          else if (BigInt(result) === -1n) reject(systemCallError(errno, about));
          else resolve(BigInt(result));
        });
      });
    },
  };
}
