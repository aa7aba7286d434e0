import { counted, printReached } from '../../../src/cli/output';

describe('counted', () => {
  it.each([
    [1, 'process', '1 process'],
    [2, 'process', '2 processes'],
    [0, 'call', '0 calls'],
  ])('%d %s', (count, noun, text) => {
    expect(counted(count, noun)).toBe(text);
  });
});

describe('printReached', () => {
  const written = (unreachable: string[]) => {
    const out = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const err = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    printReached('let go of 0 calls', { unreachable });
    const text = [out.mock.calls.map(([line]) => line), err.mock.calls.map(([line]) => line)];
    jest.restoreAllMocks();
    return text;
  };

  it('names the processes that do not know of it yet, beside the answer', () => {
    expect(written([])).toEqual([['let go of 0 calls\n'], []]);
    expect(written(['control-node.sock'])).toEqual([
      ['let go of 0 calls\n'],
      [expect.stringContaining('1 process did not answer, and will follow when possible: control-node.sock')],
    ]);
  });
});
