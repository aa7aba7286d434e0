/** Less than a test's own time: a loop that went on after its test would keep Jest from ever ending. */
const PATIENCE_MS = 50_000;

/**
 * Resolves when the condition holds.
 * @throws Error that says what was waited for, when it does not come true in time.
 */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
