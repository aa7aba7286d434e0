import * as fs from 'node:fs';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { findPlace } from '../../../../src/server/registration/place';
import { RegistrationSockets } from '../../../../src/server/registration/sockets';
import { silentLog } from '../../../support/driver';
import { until } from '../../../support/until';

let root: string;
let folder: string;
let sockets: RegistrationSockets;
let watcher: fs.FSWatcher;
/** What somebody sees who watches the folder as the kubelet does, at the moment he is told of it. */
let seen: { name: string; mode: string; answers: Promise<string> }[];

beforeEach(async () => {
  root = fs.mkdtempSync(path.join(tmpdir(), 'fs-'));
  const place = await findPlace(root, 'd.test');
  folder = path.dirname(place.socket.file);
  sockets = new RegistrationSockets({
    place,
    log: silentLog,
    connected: (connection) => connection.end('hello'),
  });
  seen = [];
  watcher = fs.watch(folder, (event, name) => {
    // Who changes a file's mode makes an event of another kind, which the kubelet does not look at.
    if (event === 'rename' && name !== null) seen.push(look(name));
  });
});

afterEach(async () => {
  watcher.close();
  await sockets.show('absent', false);
  fs.rmSync(root, { recursive: true, force: true });
});

function look(name: string) {
  const file = path.join(folder, name);
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  const mode = stat ? `${stat.isSocket() ? 'socket' : 'file'} ${(stat.mode & 0o777).toString(8)}` : 'gone';
  return { name, mode, answers: greeting(file) };
}

function greeting(file: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(file);
    let heard = '';
    socket.on('data', (data) => {
      heard += String(data);
    });
    socket.once('end', () => resolve(heard));
    socket.once('close', () => resolve(heard));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
  });
}

/** Resolves when the watcher has been told of so many events about names that the kubelet looks at. */
async function told(count: number): Promise<[name: string, mode: string, answers: string][]> {
  const visible = () => seen.filter(({ name }) => !name.startsWith('.'));
  await until(`${count} sockets are visible`, () => visible().length >= count);
  return Promise.all(
    visible().map(async ({ name, mode, answers }) => [name, mode, await answers] as [string, string, string]),
  );
}

it('a socket comes into the folder once, with its mode, and answers from then on', async () => {
  await sockets.show('serving', false);
  expect(await told(1)).toEqual([['d.test-reg.sock', 'socket 600', 'hello']]);
  // Before that it had a name at which the kubelet does not look.
  expect(new Set(seen.map(({ name }) => name))).toEqual(new Set(['.d.test-reg', 'd.test-reg.sock']));
  expect(fs.readdirSync(folder)).toEqual(['d.test-reg.sock']);
});

it('it goes once', async () => {
  await sockets.show('serving', false);
  await told(1);
  await sockets.show('absent', false);
  expect((await told(2)).at(-1)).toEqual(['d.test-reg.sock', 'gone', 'ENOENT']);
  expect(fs.readdirSync(folder)).toEqual([]);
});

it('one that turns dead is another file, with nobody behind it', async () => {
  await sockets.show('serving', false);
  await told(1);
  const before = fs.lstatSync(path.join(folder, 'd.test-reg.sock'), { bigint: true }).ctimeNs;
  await sockets.show('dead', false);
  // It went and came: whoever looks late sees what came, twice.
  expect((await told(3)).at(-1)).toEqual(['d.test-reg.sock', 'socket 600', 'ECONNREFUSED']);
  expect(fs.lstatSync(path.join(folder, 'd.test-reg.sock'), { bigint: true }).ctimeNs).not.toBe(before);
  await sockets.show('serving', false);
  expect((await told(5)).at(-1)).toEqual(['d.test-reg.sock', 'socket 600', 'hello']);
});

it('a silent one takes connections and says nothing', async () => {
  await sockets.show('silent', false);
  const file = path.join(folder, 'd.test-reg.sock');
  const connection = net.connect(file);
  await new Promise((resolve) => connection.once('connect', resolve));
  const heard = new Promise((resolve) => connection.once('close', () => resolve(connection.bytesRead)));
  connection.on('error', () => undefined);
  connection.write('anything');
  await sockets.show('absent', false);
  expect(await heard).toBe(0);
});

it('a second one comes and goes beside the first', async () => {
  await sockets.show('serving', true);
  expect(fs.readdirSync(folder).sort()).toEqual(['d.test-reg.sock', 'd.test-reg2.sock']);
  expect(await greeting(path.join(folder, 'd.test-reg2.sock'))).toBe('hello');
  await sockets.show('serving', false);
  expect(fs.readdirSync(folder)).toEqual(['d.test-reg.sock']);
});

it('a killed process leaves what was there, and nobody behind it', async () => {
  await sockets.show('serving', true);
  sockets.leave();
  expect(fs.readdirSync(folder).sort()).toEqual(['d.test-reg.sock', 'd.test-reg2.sock']);
  expect(await greeting(path.join(folder, 'd.test-reg.sock'))).toBe('ECONNREFUSED');
});
