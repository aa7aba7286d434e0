import { Gallery } from '../../support/gallery';
import type { RealMachine } from '../../support/machine';

/** One scenario of the gallery on real disks and mounts; afterwards nothing of it is left on the machine. */
export function scene(
  machine: RealMachine,
  name: string,
  title: string,
  story: (gallery: Gallery) => Promise<void>,
): void {
  it(`${name}: ${title}`, async () => {
    const gallery = await Gallery.start(name, { backend: 'loop', host: machine.host, root: machine.root });
    try {
      expect((await gallery.verdict()).passed).toBe(false);
      await story(gallery);
      const { results } = await gallery.verdict();
      const wrong = results.filter(({ status }) => status !== 'passed' && status !== 'skipped');
      expect(wrong.map(({ summary }) => summary)).toEqual([]);
      const fired = gallery.fired();
      expect(Object.keys(fired).filter((rule) => fired[rule] === 0)).toEqual([]);
      expect(machine.loops(gallery.driver.dataDir)).toEqual([]);
    } finally {
      await gallery.close();
    }
  });
}
