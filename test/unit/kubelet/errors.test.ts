import { Code, CsiError } from '../../../src/csi/status';
import { goCodeName, isFinalError, rpcErrorText, stepErrorOf } from '../../../src/kubelet/errors';
import { ExponentialBackoff } from '../../../src/kubelet/exponential-backoff';
import { goDuration } from '../../../src/kubelet/volumemanager/operation-executor';

const codes = Object.values(Code).filter((value): value is Code => typeof value === 'number');

test('five codes leave it open whether the driver did it; all others are final', () => {
  const open = codes.filter((code) => !isFinalError(new CsiError(code, 'why')));
  expect(open).toEqual([
    Code.CANCELLED,
    Code.DEADLINE_EXCEEDED,
    Code.RESOURCE_EXHAUSTED,
    Code.ABORTED,
    Code.UNAVAILABLE,
  ]);
  expect(codes).toHaveLength(16);
});

test('an error that is no answer of a driver leaves it open, too', () => {
  expect(stepErrorOf(new Error('connection lost')).errorClass).toBe('uncertain');
  expect(stepErrorOf(new CsiError(Code.INTERNAL, 'no')).errorClass).toBe('final');
});

test('errors read as Go prints them', () => {
  expect(rpcErrorText(new CsiError(Code.FAILED_PRECONDITION, 'not staged'))).toBe(
    'rpc error: code = FailedPrecondition desc = not staged',
  );
  expect(goCodeName(Code.CANCELLED)).toBe('Canceled');
  expect(goCodeName(Code.DEADLINE_EXCEEDED)).toBe('DeadlineExceeded');
  expect(goCodeName(Code.OUT_OF_RANGE)).toBe('OutOfRange');
});

test('the pauses after failures double from half a second to two minutes and two seconds', () => {
  const backoff = new ExponentialBackoff();
  const pauses = Array.from({ length: 10 }, () => goDuration(backoff.failed(0)));
  expect(pauses).toEqual(['500ms', '1s', '2s', '4s', '8s', '16s', '32s', '1m4s', '2m2s', '2m2s']);
  expect(backoff.isSafeToRetry(122_000)).toBe(false);
  expect(backoff.isSafeToRetry(122_001)).toBe(true);
});
