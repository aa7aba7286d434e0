import { Code } from '../../../src/csi/status';
import { Locks } from '../../../src/volumes/locks';

let now = 0;
const make = () => new Locks({ now: () => now, monotonic: () => now, sleep: async () => undefined });

describe('Locks', () => {
  it('refuses a second holder and says who is first, and for how long', () => {
    const locks = make();
    now = 1_000;
    locks.acquire({ exclusive: ['v'], shared: [] }, 'first');
    now = 3_500;
    expect(() => locks.acquire({ exclusive: ['v'], shared: [] }, 'second')).toThrow(
      expect.objectContaining({
        code: Code.ABORTED,
        message:
          'an operation on v is pending: first, for 2.5 s; second was not begun, repeat it when that has ended',
      }),
    );
  });

  it('takes all keys or none', () => {
    const locks = make();
    locks.acquire({ exclusive: ['b'], shared: [] }, 'holder');
    expect(() => locks.acquire({ exclusive: ['a', 'b'], shared: ['c'] }, 'greedy')).toThrow();
    expect(locks.list().map(({ key }) => key)).toEqual(['b']);
  });

  it('lets go once, whoever asks again', () => {
    const locks = make();
    const release = locks.acquire({ exclusive: ['v'], shared: [] }, 'first');
    release();
    locks.acquire({ exclusive: ['v'], shared: [] }, 'second');
    release();
    expect(locks.list().map(({ operation }) => operation)).toEqual(['second']);
  });

  it('shares a key among those that only need it to stay', () => {
    const locks = make();
    const first = locks.acquire({ exclusive: [], shared: ['v'] }, 'first');
    const second = locks.acquire({ exclusive: [], shared: ['v'] }, 'second');
    const own = () => locks.acquire({ exclusive: ['v'], shared: [] }, 'owner');
    expect(own).toThrow();
    first();
    expect(own).toThrow('second');
    second();
    const release = own();
    expect(() => locks.acquire({ exclusive: [], shared: ['v'] }, 'third')).toThrow('owner');
    release();
    expect(locks.list()).toEqual([]);
  });

  it('minds no key that is named twice, or both ways', () => {
    const locks = make();
    locks.acquire({ exclusive: ['v', 'v'], shared: ['v', 'w', 'w'] }, 'stutter')();
    expect(locks.list()).toEqual([]);
  });
});
