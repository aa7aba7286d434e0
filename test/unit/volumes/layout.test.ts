import * as path from 'node:path';
import { Layout } from '../../../src/volumes/layout';

const layout = new Layout('/data');

test.each(['../../etc', '/etc/passwd', 'a/b', '.', '..', '', 'é'.repeat(64), '__proto__', 'x\0y'])(
  'the id %j names nothing outside its folder',
  (id) => {
    for (const [place, folder] of [
      [layout.volume(id).folder, layout.volumes],
      [layout.snapshot(id).folder, layout.snapshots],
      [layout.group(id).folder, layout.groups],
      [layout.node(id).folder, layout.nodes],
    ] as const) {
      expect(path.dirname(path.resolve(place))).toBe(folder);
      expect(path.basename(place)).toMatch(/^[\w.-]{1,128}$/);
    }
  },
);

test('a node id that is a host name is a folder of that name', () => {
  expect(layout.node('worker-1.example').folder).toBe('/data/nodes/worker-1.example');
  expect(layout.node(`n${'x'.repeat(200)}`).folder).toMatch(/^\/data\/nodes\/[0-9a-f]{32}$/);
});
