import { memoryTrimmer } from '../../../src/host/libc/trim';

test('the C library gives free memory back, or has no such thing', async () => {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const trim = memoryTrimmer();
  expect(trim === undefined).toBe(header.glibcVersionRuntime === undefined);
  await expect(trim?.()).resolves.toBeUndefined();
});
