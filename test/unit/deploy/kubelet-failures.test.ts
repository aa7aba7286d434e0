import { failuresPage, readFailuresPage, withoutNames } from '../../support/golden/seen';

test('docs/kubelet-failures.md tells what was seen on the real kubelet', () => {
  expect(readFailuresPage()).toBe(failuresPage());
});

it('what is another one each time is taken out of what was seen', () => {
  expect(
    withoutNames(
      'an operation on volume vol-0123456789abcdef is pending: NodeStageVolume (call 12), for 120.6 s; NodeStageVolume (call 14) was not begun',
      'e2e-one',
    ),
  ).toBe(
    'an operation on volume <vol> is pending: NodeStageVolume (call n), for n s; NodeStageVolume (call n) was not begun',
  );
  const late = ['Deadline exceeded', 'context deadline exceeded'].map((text) =>
    withoutNames(`rpc error: code = DeadlineExceeded desc = ${text}`, 'e2e-one'),
  );
  expect(late[0]).toBe(late[1]);
});
