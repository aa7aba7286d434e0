import { Code } from '../../../src/csi/status';
import { Pool } from '../../../src/volumes/pool';

describe('Pool', () => {
  it('counts what is promised, and what a call has set aside', () => {
    const pool = new Pool(100n);
    pool.adjust(undefined, '60');
    const release = pool.reserve(40n);
    expect(pool.free).toBe(0n);
    expect(() => pool.reserve(1n)).toThrow(expect.objectContaining({ code: Code.RESOURCE_EXHAUSTED }));
    release();
    release();
    expect(pool.free).toBe(40n);
    pool.adjust('60', '80');
    expect(pool.free).toBe(20n);
    pool.adjust('80', undefined);
    expect(pool.free).toBe(100n);
  });

  it('cannot promise the same bytes to two calls at once', () => {
    const pool = new Pool(100n);
    pool.reserve(60n);
    expect(() => pool.reserve(60n)).toThrow(/has 40 of 100 bytes free, 60 are needed/);
  });

  it('never owes: what was promised before the capacity was set may be more', () => {
    const pool = new Pool(10n);
    pool.adjust(undefined, '25');
    expect(pool.free).toBe(0n);
    expect(() => pool.reserve(1n)).toThrow();
    expect(() => pool.reserve(0n)).not.toThrow();
  });

  it('has no end when no capacity is named', () => {
    const pool = new Pool(undefined);
    pool.reserve(2n ** 63n);
    expect(pool.free).toBeUndefined();
  });
});
