import { scrubber } from '../../../src/server/scrub';

const withFlags = (...mount_flags: string[]) => ({ volume_capability: { mount: { mount_flags } } });

describe('scrubber', () => {
  it('takes the values of secrets out of every text', () => {
    const { log, answer } = scrubber({ secrets: { user: 'alice', password: 's3cret' } });
    const text = 'login of alice with s3cret and s3cret failed';
    const clean = 'login of ***stripped*** with ***stripped*** and ***stripped*** failed';
    expect([log(text), answer(text)]).toEqual([clean, clean]);
  });

  it('takes mount flags out of logs, by name and by value, and leaves them to the client', () => {
    const { log, answer } = scrubber(withFlags('username=bob', 'password=hunter2,domain=corp', 'sec-option'));
    const text = 'bad option password=hunter2 of bob in corp (username, sec-option)';
    for (const word of ['hunter2', 'bob', 'corp', 'username', 'sec-option', 'password'])
      expect(log(text)).not.toContain(word);
    expect(answer(text)).toBe(text);
  });

  it('leaves short words that are no secret and part of many others', () => {
    expect(scrubber(withFlags('ro', 'nodev')).log('error on a nodevice, ro')).toBe('error on a nodevice, ro');
  });

  it('takes the longest first, so that no end of it is left', () => {
    const { log } = scrubber({ secrets: { a: 'abc', b: 'abcdef' } });
    expect(log('abcdef abc')).toBe('***stripped*** ***stripped***');
  });

  it('looks into every capability of a list', () => {
    const { log } = scrubber({
      volume_capabilities: [{ mount: null }, { mount: { mount_flags: ['token=xyz123'] } }],
    });
    expect(log('token=xyz123')).not.toContain('xyz123');
  });

  it('does nothing where nothing is confidential', () => {
    for (const request of [{}, { secrets: {} }, { secrets: { a: '' } }, { volume_capability: null }])
      expect(scrubber(request).log('any text')).toBe('any text');
  });

  it('takes patterns and placeholders for what they are: text', () => {
    const { log } = scrubber({ secrets: { a: '$&.*[' } });
    expect(log('it was $&.*[ and $&')).toBe('it was ***stripped*** and $&');
  });

  it('finds words that overlap, and those that are parts of the mask, in one look at the text', () => {
    const { log } = scrubber({ secrets: { a: 'abcd', b: 'cdef' } });
    expect(log('abcdef')).toBe('***stripped***');
    const parts = '***stripped***'.split('').map((_one, at, all) => all.slice(0, at + 1).join(''));
    const hostile = scrubber({ secrets: Object.fromEntries(parts.map((part, at) => [`k${at}`, part])) });
    expect(hostile.answer('it was ***stripped*** before')).toBe('it was ***stripped*** before');
    expect(hostile.answer('* a *')).toBe('***stripped*** a ***stripped***');
  });

  it('finds what a message quotes, with its escapes', () => {
    const odd = 'a"b\\c\nd';
    const { log, answer } = scrubber({ secrets: { odd }, ...withFlags(odd.toUpperCase()) });
    expect(answer(`found ${JSON.stringify(odd)}`)).toBe('found "***stripped***"');
    expect(log(`found ${JSON.stringify(odd.toUpperCase())}`)).toBe('found "***stripped***"');
  });

  it.each([
    ['  credential=xyz123 ', 'the option "credential" was refused: xyz123'],
    ['context="xyz123,c4"', 'context=xyz123,c4'],
    ['password="xy z123"', 'bad value xy z123'],
    ['key=a=xyz123', 'value a=xyz123'],
  ])('finds the parts of %j as who took it apart repeats them', (flag, said) => {
    expect(scrubber(withFlags(flag)).log(said)).not.toMatch(/xyz123|xy z123|c4|credential/);
  });
});
