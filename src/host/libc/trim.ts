import { loadKoffi } from './binding';

/**
 * Gives what the C heap holds free back to the kernel (malloc_trim(3)). glibc keeps free memory below the last piece in use:
 * of each HTTP/2 session a little stays, and after thousands of them that is a fifth of the process. Takes some 10 ms, in
 * libuv's pool. Loads koffi. Undefined where the C library is another one (musl).
 */
export function memoryTrimmer(): (() => Promise<void>) | undefined {
  const library = loadKoffi().load(null);
  try {
    const trim = library.func('int malloc_trim(size_t pad)');
    return () =>
      new Promise((resolve, reject) => {
        trim.async(0, (error: Error | null) => (error === null ? resolve() : reject(error)));
      });
  } catch {
    return undefined;
  }
}
