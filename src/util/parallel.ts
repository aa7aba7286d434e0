/** Runs `work` over `items`, at most `width` at a time. The first failure is thrown after the running ones ended. */
export async function forEachLimited<T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failed = false;
  let failure: unknown;
  const lane = async () => {
    for (;;) {
      const next = iterator.next();
      if (next.done || failed) return;
      try {
        await work(next.value);
      } catch (error) {
        if (!failed) failure = error;
        failed = true;
      }
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  if (failed) throw failure;
}
