import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import type { Inspection } from '../../../src/kubelet/inspect/report';
import { runCli } from '../../support/cli';
import { usePlayedFolders } from '../../support/played-folder';

const played = usePlayedFolders();
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Names, kinds, sizes and times of change of all that is there. */
function shape(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const place = path.join(folder, entry.name);
    const { mode, size, mtimeMs, ctimeMs } = fs.lstatSync(place);
    return [`${place} ${mode} ${size} ${mtimeMs} ${ctimeMs}`, ...(entry.isDirectory() ? shape(place) : [])];
  });
}

test('tells of a rehearsal’s folder what is there and what does not fit, and changes nothing', async () => {
  const { root, volume } = await played();
  const before = shape(root);
  const told = await runCli(['inspect', root]);
  expect(told).toMatchObject({ code: 1, err: '' });
  expect(told.out).toContain(path.basename(volume));
  expect(told.out).toContain('warning not-mounted');
  expect(told.out).toContain('A kubelet that starts now:');
  const json = await runCli(['inspect', root, '--json', '--kubelet', '1.32']);
  expect(JSON.parse(json.out)).toMatchObject({ root, kubelet: '1.32', volumes: [{ mode: 'Filesystem' }] });
  expect(shape(root)).toEqual(before);
});

test('goes on over all that a broken disk may hold: fifos, links in a circle, strange names, sockets', async () => {
  const { root, volume } = await played();
  const pods = path.join(root, 'pods');
  execFileSync('mkfifo', [path.join(pods, 'fifo'), path.join(volume, 'other')]);
  fs.rmSync(path.join(volume, 'vol_data.json'));
  execFileSync('mkfifo', [path.join(volume, 'vol_data.json')]);
  fs.symlinkSync('loop', path.join(pods, 'loop'));
  fs.mkdirSync(Buffer.from(`${pods}/\xff\xfe`, 'latin1'));
  fs.mkdirSync(path.join(pods, 'a\nb\u001b[31m'));
  fs.symlinkSync('.', path.join(path.dirname(volume), 'circle'));
  fs.mkdirSync(path.join(root, 'plugins_registry'));
  fs.mkdirSync(path.join(root, 'plugins/fake.csi.test'));
  for (const socket of ['plugins_registry/fake.csi.test-reg.sock', 'plugins/fake.csi.test/csi.sock']) {
    const server = net.createServer().listen(path.join(root, socket));
    await new Promise((resolve) => server.once('listening', resolve));
    closers.push(() => server.close());
  }
  const { out, code } = await runCli(['inspect', root, '--json']);
  expect(code).toBe(1);
  const seen = JSON.parse(out) as Inspection;
  expect(seen.registrationSockets).toEqual([path.join(root, 'plugins_registry/fake.csi.test-reg.sock')]);
  expect(seen.driverFolders).toEqual([
    { name: 'fake.csi.test', sockets: [path.join(root, 'plugins/fake.csi.test/csi.sock')] },
  ]);
  const codes = seen.findings.map((finding) => `${finding.code} ${path.basename(finding.path)}`);
  expect(codes).toEqual(
    expect.arrayContaining([
      'vol-data-unreadable vol_data.json',
      'unexpected-file fifo',
      'unexpected-file loop',
      'unexpected-file circle',
    ]),
  );
  const text = await runCli(['inspect', root]);
  expect(text.out).not.toContain('\u001b');
});

test('a folder that may not be read is told, and the rest goes on', async () => {
  const { root } = await played();
  const drivers = path.join(root, 'plugins/kubernetes.io/csi/fake.csi.test');
  fs.renameSync(drivers, `${drivers}.old`);
  fs.writeFileSync(drivers, '');
  fs.chmodSync(root, 0o755);
  const seen = JSON.parse((await runCli(['inspect', root, '--json'])).out) as Inspection;
  expect(seen.findings).toContainEqual(
    expect.objectContaining({
      code: 'unexpected-file',
      path: drivers,
      text: "expected a driver's folder, found a file",
    }),
  );
  expect(seen.volumes).toHaveLength(1);
});

test.each([
  ['a folder that is not there', ['inspect', '/nonexistent/kubelet'], 1, /expected a kubelet's folder/],
  ['a file', ['inspect', '/etc/passwd'], 1, /ENOTDIR/],
  [
    'a process that is not there',
    ['inspect', '/', '--pid', '4194303'],
    1,
    /--pid 4194303: expected a process/,
  ],
  ['no number', ['inspect', '/', '--pid', 'x'], 2, /pid: expected a number/],
])('%s is told in one line', async (_, words, code, text) => {
  const told = await runCli(words);
  expect(told).toMatchObject({ code, out: '' });
  expect(told.err.trim()).toMatch(text);
  expect(told.err.trim().split('\n')).toHaveLength(1);
});

test('looks through the root of another process at its mounts', async () => {
  const { root } = await played();
  const { out } = await runCli(['inspect', root, '--json', '--pid', String(process.pid)]);
  expect(JSON.parse(out)).toMatchObject({
    root: `/proc/${process.pid}/root${root}`,
    mountsOf: `process ${process.pid}`,
    volumes: [{ mode: 'Filesystem' }],
  });
});

test('`rehearse` plays the older kubelet when it is asked to, too', async () => {
  const { out, code } = await runCli(['rehearse', 'examples/pod.yaml', '--kubelet', '1.32']);
  expect(code).toBe(0);
  expect(out).toContain('kubelet 1.32 started');
});
