import * as fs from 'node:fs/promises';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { clearPlace, findPlace } from '../../../../src/server/registration/place';

let root: string;
beforeEach(async () => {
  root = await fs.realpath(await fs.mkdtemp(path.join(tmpdir(), 'fp-')));
});
afterEach(() => fs.rm(root, { recursive: true, force: true }));

async function leaveSocket(file: string): Promise<void> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(`${file}.old`, resolve));
  await fs.rename(`${file}.old`, file);
  await new Promise((resolve) => server.close(resolve));
}

describe('the folder of a kubelet', () => {
  it('may be a symbolic link; its real path is what the sockets are made in', async () => {
    await fs.mkdir(path.join(root, 'real'));
    await fs.symlink(path.join(root, 'real'), path.join(root, 'link'));
    const place = await findPlace(path.join(root, 'link'), 'd.test');
    expect(place).toMatchObject({
      given: path.join(root, 'link'),
      kubeletDir: path.join(root, 'real'),
      socket: { file: path.join(root, 'real/plugins_registry/d.test-reg.sock'), fresh: '.d.test-reg' },
    });
    expect((await fs.stat(path.join(root, 'real/plugins_registry'))).mode & 0o777).toBe(0o755);
  });

  it('has to be there', async () => {
    await expect(findPlace(path.join(root, 'none'), 'd')).rejects.toThrow(
      `--kubelet-dir ${root}/none: expected the folder of a kubelet on this node (its --root-dir), which is not there; in a container, mount it at the same path as on the host`,
    );
  });

  it('has to be a folder, and so does plugins_registry', async () => {
    await fs.writeFile(path.join(root, 'file'), '');
    await expect(findPlace(path.join(root, 'file'), 'd')).rejects.toThrow(
      'found something that is no folder',
    );
    await fs.writeFile(path.join(root, 'plugins_registry'), '');
    await expect(findPlace(root, 'd')).rejects.toThrow(
      `--kubelet-dir ${root}: no socket can be made in ${root}/plugins_registry (EEXIST)`,
    );
    expect((await findPlace(root, 'd', false)).kubeletDir).toBe(root);
  });

  it('may have a path of which the socket still fits into 107 bytes', async () => {
    const name = 'd'.repeat(107 - `${root}/plugins_registry/-reg.sock`.length);
    expect((await findPlace(root, name)).socket.file).toHaveLength(107);
    await expect(findPlace(root, `${name}d`)).rejects.toThrow(
      `--kubelet-dir ${root}: the registration socket ${root}/plugins_registry/${name}d-reg.sock: a Unix socket's path has at most 107 bytes, this one has 108; choose a shorter folder`,
    );
  });
});

describe('what is left in plugins_registry', () => {
  it('is removed when nobody listens on it, and nothing else is', async () => {
    const place = await findPlace(root, 'd.test');
    const folder = path.join(root, 'plugins_registry');
    for (const name of [
      'd.test-reg.sock',
      'd.test-reg2.sock',
      '.d.test-reg',
      '.d.test-reg.d',
      'other-reg.sock',
    ])
      await leaveSocket(path.join(folder, name));
    const removed = await clearPlace(place);
    expect(removed.map((file) => path.basename(file))).toEqual([
      'd.test-reg.sock',
      '.d.test-reg',
      '.d.test-reg.d',
      'd.test-reg2.sock',
    ]);
    expect(await fs.readdir(folder)).toEqual(['other-reg.sock']);
  });

  it('stays when it is no socket', async () => {
    const place = await findPlace(root, 'd.test');
    await fs.writeFile(place.socket.file, '');
    await expect(clearPlace(place)).rejects.toThrow(
      `--register ${place.socket.file}: something that is no socket is there; remove it or choose another --driver-name`,
    );
  });
});
