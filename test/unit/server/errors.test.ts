import { StillInUse } from '../../../src/backends/backend';
import { Code, CsiError } from '../../../src/csi/status';
import { HostError } from '../../../src/host/host';
import { isUnexpected, toCsiError } from '../../../src/server/errors';

const coded = (code: string) => Object.assign(new Error('words of the system'), { code });

describe('toCsiError', () => {
  it('leaves an answer that was meant', () => {
    const meant = new CsiError(Code.NOT_FOUND, 'volume x does not exist');
    expect(toCsiError(meant)).toBe(meant);
  });

  it.each([
    ['a disk that is held', new StillInUse('/dev/loop1 is in use'), Code.FAILED_PRECONDITION],
    [
      'a refused mount option',
      new HostError('EINVAL', 'mount', 'kernel words', 'oops'),
      Code.INVALID_ARGUMENT,
    ],
    ['a full disk', coded('ENOSPC'), Code.RESOURCE_EXHAUSTED],
    ['a quota', coded('EDQUOT'), Code.RESOURCE_EXHAUSTED],
    ['a file too large', coded('EFBIG'), Code.OUT_OF_RANGE],
    ['a path too long', coded('ENAMETOOLONG'), Code.INVALID_ARGUMENT],
    ['a read-only disk', coded('EROFS'), Code.INTERNAL],
    ['another errno', coded('EIO'), Code.INTERNAL],
    ['the same from the host', new HostError('ENOSPC', 'mkfs', 'no room'), Code.RESOURCE_EXHAUSTED],
    ['a bug', new TypeError('x is not a function'), Code.INTERNAL],
    ['nothing', undefined, Code.INTERNAL],
    ['a word', 'boom', Code.INTERNAL],
  ])('%s', (_what, thrown, code) => {
    const answer = toCsiError(thrown);
    expect(answer.code).toBe(code);
    expect(answer.message).toMatch(/\S+ \S+|boom/);
    if (thrown instanceof Error) expect(answer.cause).toBe(thrown);
  });

  it('names the mount option', () => {
    expect(toCsiError(new HostError('EINVAL', 'mount', 'kernel words', 'oops')).message).toMatch(
      /mount_flags: the option "oops" was refused: kernel words/,
    );
  });

  it.each([0, 17, -1, Number.NaN])('makes the code %d, which gRPC does not have, UNKNOWN', (code) => {
    expect(toCsiError(new CsiError(code as Code, 'a reason')).code).toBe(Code.UNKNOWN);
  });

  it('gives every answer a sentence', () => {
    for (const message of ['', '  \n'])
      expect(toCsiError(new CsiError(Code.ABORTED, message)).message).toBe(
        'the call ended with ABORTED without a reason',
      );
    expect(toCsiError(new Error('')).message).toMatch(/\S+ \S+/);
  });
});

test('only what nobody foresaw is unexpected', () => {
  expect(isUnexpected(new TypeError('x'))).toBe(true);
  expect(isUnexpected('boom')).toBe(true);
  for (const foreseen of [
    new CsiError(Code.INTERNAL, 'x'),
    new HostError('EIO', 'mount', 'x'),
    coded('ENOENT'),
  ])
    expect(isUnexpected(foreseen)).toBe(false);
});
