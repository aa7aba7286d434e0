import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type Host, HostError } from '../../../src/host/host';
import { createMemoryHost } from '../../../src/host/memory';
import { type Freezable, Freezer } from '../../../src/volumes/freezer';
import { silentLog } from '../../support/driver';

/** A machine whose freezes and thaws take as long as the test likes, with a log of what was done. */
class Machine {
  readonly log: string[] = [];
  readonly frozen = new Set<string>();
  private readonly gates: (() => void)[] = [];
  slow = false;

  readonly host: Host = {
    ...createMemoryHost(),
    mounts: {
      ...createMemoryHost().mounts,
      freeze: async (name) => {
        await this.wait();
        if (this.frozen.has(name)) throw new HostError('EBUSY', 'FIFREEZE', `${name} is frozen`);
        this.frozen.add(name);
        this.log.push(`freeze ${name}`);
      },
      thaw: async (name) => {
        await this.wait();
        if (!this.frozen.delete(name)) throw new HostError('EINVAL', 'FITHAW', `${name} is not frozen`);
        this.log.push(`thaw ${name}`);
      },
      at: async () => ({ device: { major: 7, minor: 0 }, rootInode: 2n, mountId: 1n, readOnly: false }),
    },
  };

  private async wait(): Promise<void> {
    if (this.slow) await new Promise<void>((resolve) => this.gates.push(resolve));
  }

  /** Lets the oldest freeze or thaw that waits go on. */
  step(): void {
    this.gates.shift()?.();
  }
}

/** A filesystem that is mounted where its name says. */
const at = (name: string, left: string[] = []): Freezable => ({
  key: name,
  reach: async () => ({
    path: name,
    disk: { file: '/nowhere', loopIndex: undefined, fsType: 'ext4' },
    leave: async () => {
      left.push(name);
    },
  }),
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('Freezer', () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'freezer-'));
  afterAll(() => fs.rmSync(folder, { recursive: true }));
  const notes = () => fs.readdirSync(folder);
  let machine: Machine;
  let freezer: Freezer;
  beforeEach(() => {
    machine = new Machine();
    freezer = new Freezer(machine.host, folder, silentLog);
  });
  const copy = (name: string) => async () => {
    machine.log.push(`${name} ${machine.frozen.has('/a') ? 'of a still disk' : 'OF A MOVING DISK'}`);
  };

  it('freezes once for copies that overlap, and thaws after the last', async () => {
    machine.slow = true;
    let end: () => void = () => undefined;
    const first = freezer.withFrozen([at('/a')], async () => {
      await copy('first')();
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    const second = freezer.withFrozen([at('/a')], copy('second'));
    await turn();
    // Nobody may copy before the freeze is complete.
    expect(machine.log).toEqual([]);
    machine.step();
    await second;
    end();
    await turn();
    machine.step();
    await first;
    expect(machine.log).toEqual(['freeze /a', 'first of a still disk', 'second of a still disk', 'thaw /a']);
    expect(notes()).toEqual([]);
  });

  it('freezes anew for a copy that comes while the last one thaws', async () => {
    const first = freezer.withFrozen([at('/a')], async () => {
      machine.slow = true;
    });
    await turn();
    const second = freezer.withFrozen([at('/a')], copy('second'));
    for (let round = 0; round < 3; round++) {
      machine.step();
      await turn();
    }
    await Promise.all([first, second]);
    expect(machine.log).toEqual(['freeze /a', 'thaw /a', 'freeze /a', 'second of a still disk', 'thaw /a']);
    expect(notes()).toEqual([]);
  });

  it('leaves a freeze of somebody else to them', async () => {
    machine.frozen.add('/a');
    await freezer.withFrozen([at('/a')], copy('ours'));
    expect(machine.log).toEqual(['ours of a still disk']);
    expect(machine.frozen.has('/a')).toBe(true);
    expect(notes()).toEqual([]);
  });

  it('tells when somebody thawed in between, and forgets the freeze', async () => {
    const cut = freezer.withFrozen([at('/a')], async () => {
      machine.frozen.clear();
    });
    await expect(cut).rejects.toMatchObject({ errno: 'EINVAL' });
    expect(notes()).toEqual([]);
  });

  it('thaws what it froze when another one of the group cannot be frozen', async () => {
    const { freeze } = machine.host.mounts;
    const host = {
      ...machine.host,
      mounts: {
        ...machine.host.mounts,
        freeze: async (name: string) => {
          if (name === '/b') throw new HostError('EIO', 'FIFREEZE', 'broken');
          await freeze(name);
        },
      },
    };
    const left: string[] = [];
    const broken = new Freezer(host, folder, silentLog);
    await expect(broken.withFrozen([at('/a', left), at('/b', left)], copy('never'))).rejects.toMatchObject({
      errno: 'EIO',
    });
    expect(machine.log).toEqual(['freeze /a', 'thaw /a']);
    expect(left).toEqual(['/b', '/a']);
    expect(notes()).toEqual([]);
  });

  it('thaws at the next start what a killed process left frozen', async () => {
    void freezer.withFrozen([at('/a')], () => new Promise(() => undefined));
    await turn();
    expect(notes()).toHaveLength(1);
    expect(await new Freezer(machine.host, folder, silentLog).recover()).toBe(1);
    expect(machine.frozen.size).toBe(0);
    expect(notes()).toEqual([]);
  });
});
