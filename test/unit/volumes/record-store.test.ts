import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { keyOf } from '../../../src/util/keys';
import { RecordStore } from '../../../src/volumes/record-store';
import { silentLog } from '../../support/driver';

interface Thing {
  version: number;
  id: string;
  sequence: number;
  kept: boolean;
}

const root = fs.mkdtempSync(path.join(tmpdir(), 'record-store-'));
afterAll(() => fs.rmSync(root, { recursive: true }));
beforeEach(() => {
  for (const name of fs.readdirSync(root)) fs.rmSync(path.join(root, name), { recursive: true });
});

async function open(owner = 'controller'): Promise<RecordStore<Thing>> {
  const store = new RecordStore<Thing>({
    root,
    file: 'thing.json',
    required: ['id', 'kept'],
    durability: 'process',
    log: silentLog,
    owner,
    owns: (thing) => thing.kept,
  });
  await store.load();
  return store;
}

const thing = (id: string, sequence = 1): Thing => ({ version: 1, id, sequence, kept: true });
const folderOf = (id: string) => path.join(root, keyOf(id));

async function make(store: RecordStore<Thing>, id: string): Promise<void> {
  const folder = await store.begin(id);
  fs.writeFileSync(path.join(folder, 'bytes'), id);
  await store.commit(thing(id), folder);
}

it('shows a new thing with its record and its bytes, or not at all', async () => {
  const store = await open();
  const folder = await store.begin('a');
  fs.writeFileSync(path.join(folder, 'bytes'), 'of a');
  expect(store.find('a')).toBeUndefined();
  expect((await open()).find('a')).toBeUndefined();
  await store.commit(thing('a'), folder);
  expect(fs.readdirSync(folderOf('a')).sort()).toEqual(['bytes', 'thing.json']);
  expect((await open()).find('a')).toEqual(thing('a'));
});

it('sweeps what its own earlier process was making or removing, and nothing of others', async () => {
  const store = await open();
  const mine = await store.begin('a');
  const theirs = await (await open('node')).begin('a');
  await make(store, 'b');
  fs.renameSync(folderOf('b'), path.join(root, `.old-controller-${keyOf('b')}`));
  const again = await open();
  expect((await again.sweep()).sort()).toEqual(
    [mine, path.join(root, `.old-controller-${keyOf('b')}`)].sort(),
  );
  expect(fs.readdirSync(root)).toEqual([path.basename(theirs)]);
});

it('begins anew where an earlier attempt ended', async () => {
  const store = await open();
  fs.writeFileSync(path.join(await store.begin('a'), 'half'), 'x');
  expect(fs.readdirSync(await store.begin('a'))).toEqual([]);
});

it('does not make a thing twice', async () => {
  const one = await open('controller');
  const other = await open('node');
  const folder = await other.begin('a');
  await make(one, 'a');
  await expect(other.commit(thing('a'), folder)).rejects.toMatchObject({
    code: expect.stringMatching(/ENOTEMPTY|EEXIST/),
  });
  await other.abandon(folder);
  expect(other.find('a')).toEqual(thing('a'));
});

it.each([
  ['truncated', (file: string) => fs.truncateSync(file, 10), /that are no JSON/],
  ['empty', (file: string) => fs.truncateSync(file, 0), /an empty file/],
  ['garbage', (file: string) => fs.writeFileSync(file, '\0\x01{'), /that are no JSON/],
  ['of another version', (file: string) => fs.writeFileSync(file, '{"version":7}'), /version 7/],
  ['missing', (file: string) => fs.rmSync(file), /no such file beside its bytes/],
])('never takes a thing whose record is %s for one that does not exist', async (_, spoil, words) => {
  await make(await open(), 'a');
  await make(await open(), 'b');
  const file = path.join(folderOf('a'), 'thing.json');
  const good = fs.readFileSync(file);
  spoil(file);
  const store = await open();
  await store.sweep();
  expect(() => store.find('a')).toThrow(words);
  expect(store.find('b')).toEqual(thing('b'));
  expect(fs.readFileSync(path.join(folderOf('a'), 'bytes'), 'utf8')).toBe('a');
  // Both ways out that the error names work without a restart.
  fs.writeFileSync(file, good);
  expect(store.find('a')).toEqual(thing('a'));
  spoil(file);
  const again = await open();
  expect(() => again.find('a')).toThrow(words);
  fs.rmSync(folderOf('a'), { recursive: true });
  expect(again.find('a')).toBeUndefined();
});

it('removes a thing at once, also when its folder is gone already', async () => {
  const store = await open();
  await make(store, 'a');
  await store.remove('a');
  expect(fs.readdirSync(root)).toEqual([]);
  await make(store, 'a');
  fs.rmSync(folderOf('a'), { recursive: true });
  await store.remove('a');
  expect(store.find('a')).toBeUndefined();
});

it('lists in the order of the sequence numbers, also what was whole only after a later one', async () => {
  const store = await open();
  const [first, second, third] = [
    await store.begin('first'),
    await store.begin('second'),
    await store.begin('third'),
  ];
  await store.commit(thing('second', 2), second);
  await store.commit(thing('first', 1), first);
  await store.commit(thing('third', 3), third);
  const ids = (of: RecordStore<Thing>) => [...of.values()].map(({ id }) => id);
  expect(ids(store)).toEqual(['first', 'second', 'third']);
  await store.update(thing('second', 2));
  expect(ids(store)).toEqual(['first', 'second', 'third']);
  expect(ids(await open())).toEqual(['first', 'second', 'third']);
});

it('has an order among things of one number, whenever it came to know them', async () => {
  const store = await open();
  for (const id of ['a', 'b', 'c', 'd', 'e']) await make(store, id);
  const order = [...store.values()].map(({ id }) => id);
  expect([...(await open()).values()].map(({ id }) => id)).toEqual(order);
  expect(order.map(keyOf)).toEqual(order.map(keyOf).sort());
});
