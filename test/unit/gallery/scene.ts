import type { TestDriverOptions } from '../../support/driver';
import { Gallery } from '../../support/gallery';

/** A busy machine takes its time for a hundred calls. */
jest.setTimeout(120_000);

/**
 * One scenario of the gallery: what its callers see, then its own expectations. Without calls those must fail, so that
 * neither passes when it was not loaded.
 */
export function scene(
  name: string,
  title: string,
  story: (gallery: Gallery) => Promise<void>,
  options: Partial<TestDriverOptions> = {},
): void {
  describe(name, () => {
    let gallery: Gallery;
    beforeEach(async () => {
      gallery = await Gallery.start(name, options);
    });
    afterEach(() => gallery.close());

    it(title, async () => {
      await story(gallery);
      const { results, passed } = await gallery.verdict();
      expect(
        results
          .filter(({ status }) => status !== 'passed' && status !== 'skipped')
          .map(({ summary }) => summary),
      ).toEqual([]);
      expect(passed).toBe(true);
      const fired = gallery.fired();
      expect(Object.keys(fired).filter((rule) => fired[rule] === 0)).toEqual([]);
    });

    it('fails its own expectations when nothing called', async () => {
      expect((await gallery.verdict()).passed).toBe(false);
    });
  });
}
