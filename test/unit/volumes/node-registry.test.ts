import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { Layout } from '../../../src/volumes/layout';
import { checkReachable, NodeRegistry, satisfies } from '../../../src/volumes/node-registry';
import type { NodeRecord, Segments } from '../../../src/volumes/records';

const root = fs.mkdtempSync(path.join(tmpdir(), 'node-registry-'));
afterAll(() => fs.rmSync(root, { recursive: true }));
const layout = new Layout(root);
beforeEach(() => fs.rmSync(layout.nodes, { recursive: true, force: true }));

const node = (id: string, topology: Segments = {}): NodeRecord => ({
  version: 1,
  id,
  topology,
  maxVolumes: 3,
  bootId: 'boot',
});

async function announce(record: NodeRecord): Promise<NodeRegistry> {
  fs.mkdirSync(layout.node(record.id).folder, { recursive: true });
  const registry = new NodeRegistry(layout, record, []);
  await registry.announce();
  return registry;
}

const controller = (...extra: Segments[]) => new NodeRegistry(layout, undefined, extra);

describe('NodeRegistry', () => {
  it('knows the nodes that have announced themselves, whatever their ids look like', async () => {
    for (const id of ['node-1', '../escape', 'a b/c', 'ü'.repeat(128)]) await announce(node(id));
    expect(controller().find('../escape')).toEqual(node('../escape'));
    expect(
      controller()
        .others()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['../escape', 'a b/c', 'node-1', 'ü'.repeat(128)]);
    expect(fs.existsSync(path.join(root, 'escape'))).toBe(false);
    expect(controller().find('node-2')).toBeUndefined();
  });

  it('sees its own node without looking, and never among the others', async () => {
    const registry = await announce(node('node-1'));
    await announce(node('node-2'));
    expect(registry.find('node-1')).toEqual(node('node-1'));
    expect(registry.others().map(({ id }) => id)).toEqual(['node-2']);
  });

  it('sees a node that comes later, though the folder looks as old as before', async () => {
    const registry = await announce(node('node-1'));
    // Timestamps of files are as coarse as the kernel's tick: two changes may share one.
    const same = new Date();
    fs.utimesSync(layout.nodes, same, same);
    expect(registry.others()).toEqual([]);
    await announce(node('node-2'));
    fs.utimesSync(layout.nodes, same, same);
    expect(registry.others().map(({ id }) => id)).toEqual(['node-2']);
  });

  it('sees what a node says of itself after a restart', async () => {
    await announce(node('node-1', { zone: 'a' }));
    const registry = controller();
    expect(registry.topologies()).toEqual([{ zone: 'a' }]);
    await announce(node('node-1', { zone: 'b' }));
    expect(registry.topologies()).toEqual([{ zone: 'b' }]);
  });

  it('leaves out a node whose record is broken, and says so to who asks for that one', async () => {
    await announce(node('node-1'));
    fs.writeFileSync(layout.node('node-1').record, '{"version": 1, "id"');
    expect(controller().others()).toEqual([]);
    expect(() => controller().find('node-1')).toThrow(/not usable/);
  });

  it('adds the places that the controller was told of', async () => {
    const registry = await announce(node('node-1', { zone: 'a' }));
    expect(registry.topologies()).toEqual([{ zone: 'a' }]);
    expect(controller({ zone: 'x' }, { zone: 'y' }).topologies()).toEqual([
      { zone: 'a' },
      { zone: 'x' },
      { zone: 'y' },
    ]);
  });
});

test.each([
  [{ zone: 'a', rack: '1' }, { zone: 'a' }, true],
  [{ zone: 'a' }, { zone: 'a', rack: '1' }, false],
  [{ Zone: 'a' }, { zOnE: 'a' }, true],
  [{ zone: 'a' }, { zone: 'A' }, false],
  [{ zone: 'a' }, {}, true],
  [{}, { zone: 'a' }, false],
])('%j satisfies %j: %p', (segments, wanted, expected) => {
  expect(satisfies(segments as Segments, wanted as Segments)).toBe(expected);
});

test('a volume is reachable from a node in one of its places, or from everywhere', () => {
  const here = node('n', { zone: 'a', rack: '1' });
  expect(() => checkReachable('v', [], here)).not.toThrow();
  expect(() => checkReachable('v', [{ zone: 'b' }, { zone: 'a' }], here)).not.toThrow();
  expect(() => checkReachable('v', [{ zone: 'b' }], here)).toThrow(
    expect.objectContaining({ code: Code.FAILED_PRECONDITION }),
  );
});
