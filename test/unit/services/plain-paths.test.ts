import { withPlainPaths } from '../../../src/services/plain-paths';
import { request as completed } from '../csi/wire';

const spelled = (target_path: string) =>
  withPlainPaths('NodePublishVolume', completed('NodePublishVolume', { target_path })).target_path;

describe('a path', () => {
  it.each([
    ['/pods/a/', '/pods/a'],
    ['/pods//a', '/pods/a'],
    ['//pods/a', '/pods/a'],
    ['/pods/./a', '/pods/a'],
    ['/./pods/a/.', '/pods/a'],
    ['/pods/a//./', '/pods/a'],
    ['/.', '/'],
    ['//', '/'],
    ['some//path/', 'some/path'],
  ])('%j has one spelling', (given, plain) => {
    expect(spelled(given)).toBe(plain);
  });

  it.each(['/', '/pods/a', '/pods/.a', '/pods/a.', '/pods/...', 'some/path', ''])('%j is plain', (given) => {
    expect(spelled(given)).toBe(given);
  });
});

it('every path of a request is spelled plainly, and nothing else is touched', () => {
  const request = completed('NodeExpandVolume', {
    volume_id: 'a//b/',
    volume_path: '/pods/a/',
    staging_target_path: '/staging//a',
  });
  expect(withPlainPaths('NodeExpandVolume', request)).toEqual({
    ...request,
    volume_path: '/pods/a',
    staging_target_path: '/staging/a',
  });
  expect(request.volume_path).toBe('/pods/a/');
});

it('a request of plain paths, or of none, is left as it is', () => {
  const staged = completed('NodeStageVolume', { staging_target_path: '/staging/a' });
  expect(withPlainPaths('NodeStageVolume', staged)).toBe(staged);
  const created = completed('CreateVolume', { name: 'a//b/' });
  expect(withPlainPaths('CreateVolume', created)).toBe(created);
});
