import * as path from 'node:path';
import { socketPathOf } from '../../../src/server/endpoint';

test.each([
  ['unix:///run/csi.sock', '/run/csi.sock'],
  ['unix:/run/csi.sock', '/run/csi.sock'],
  ['UNIX:///run/csi.sock', '/run/csi.sock'],
  ['/run/csi.sock', '/run/csi.sock'],
  ['/run/../run/./csi.sock', '/run/csi.sock'],
  ['csi.sock', path.resolve('csi.sock')],
  ['unix://csi.sock', path.resolve('csi.sock')],
])('%s is the socket %s', (endpoint, socket) => {
  expect(socketPathOf(endpoint)).toBe(socket);
});

test.each([
  ['tcp://127.0.0.1:9000', /found the scheme tcp/],
  ['http://host/a.sock', /found the scheme http/],
  ['vsock:1:2', /found the scheme vsock/],
  ['/run/csi', /ends in \.sock/],
  ['unix:///run/csi/', /ends in \.sock/],
  ['', /ends in \.sock/],
  [`/${'d'.repeat(102)}.sock`, /at most 107 bytes, this one has 108/],
  [`/${'é'.repeat(60)}.sock`, /at most 107 bytes, this one has 126/],
])('%s is refused in one line', (endpoint, says) => {
  expect(() => socketPathOf(endpoint)).toThrow(says);
  expect(() => socketPathOf(endpoint)).not.toThrow(/\n/);
});

test('a path of 107 bytes is the longest', () => {
  const longest = `/${'d'.repeat(101)}.sock`;
  expect(Buffer.byteLength(longest)).toBe(107);
  expect(socketPathOf(longest)).toBe(longest);
});
