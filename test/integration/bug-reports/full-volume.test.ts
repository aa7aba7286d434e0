import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Gallery } from '../../support/gallery';
import { MIB } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

jest.setTimeout(120_000);

const machine = useMachine();

it('BL-152: a volume has less room than was asked for, and is full', async () => {
  const file = path.join(__dirname, '../../support/bug-reports/BL-152.yaml');
  const gallery = await Gallery.start('bl-152', {
    backend: 'loop',
    host: machine.host,
    root: machine.root,
    scenarios: [file],
  });
  try {
    const claim = await gallery.run({ fsType: 'ext4', size: 256 * MIB });
    const data = path.join(claim.target, 'data');
    await expect(fs.writeFile(data, Buffer.alloc(32 * MIB, 1))).rejects.toMatchObject({ code: 'ENOSPC' });
    await fs.rm(data);
    await fs.writeFile(data, 'room again');
    await gallery.end(claim);
    expect(gallery.fired()).toEqual({ shrunk: 1 });
    expect(machine.loops(gallery.driver.dataDir)).toEqual([]);
  } finally {
    await gallery.close();
  }
});
