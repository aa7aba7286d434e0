import { failuresPage, readFailuresPage } from '../../support/golden/seen';

test('docs/kubelet-failures.md tells what was seen on the real kubelet', () => {
  expect(readFailuresPage()).toBe(failuresPage());
});
