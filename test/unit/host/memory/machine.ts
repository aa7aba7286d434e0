import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import type { FsType, LoopDevice } from '../../../../src/host/host';
import { createMemoryHost, type MemoryHost } from '../../../../src/host/memory';

export const MIB = 1n << 20n;
export const GIB = 1n << 30n;

/** A memory host over a folder that goes away with it; random bytes count up. */
export class MemoryMachine {
  readonly folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'fake-csi-memory-')));
  private drawn = 0;
  readonly host: MemoryHost = createMemoryHost({
    randomBytes: (size) => Buffer.alloc(size, ++this.drawn),
    bootId: 'boot',
  });

  at(name: string): string {
    return path.join(this.folder, name);
  }

  makeFolder(name: string): string {
    fs.mkdirSync(this.at(name), { recursive: true });
    return this.at(name);
  }

  async disk(name: string, sizeBytes: bigint): Promise<string> {
    await this.host.disks.ensureSize(this.at(name), sizeBytes);
    return this.at(name);
  }

  async formatted(name: string, sizeBytes: bigint, fsType: FsType = 'ext4'): Promise<string> {
    const file = await this.disk(name, sizeBytes);
    await this.host.filesystems.format(file, fsType);
    return file;
  }

  attach(file: string, options: { readOnly?: boolean; autoclear?: boolean } = {}): Promise<LoopDevice> {
    return this.host.loops.attach(file, { readOnly: false, autoclear: false, ...options });
  }

  /** Mounts a device at a folder that is made for it. */
  async mount(
    source: string,
    name: string,
    request: { fsType?: string; readOnly?: boolean; options?: string[] } = {},
  ) {
    const target = this.makeFolder(name);
    await this.host.mounts.mount({
      fsType: 'ext4',
      readOnly: false,
      options: [],
      source,
      target,
      ...request,
    });
    return target;
  }

  async bind(source: string, target: string, request: { readOnly?: boolean; options?: string[] } = {}) {
    await this.host.mounts.bind({ source, target, readOnly: false, options: [], ...request });
    return target;
  }

  /** A new disk, formatted and mounted. */
  async mounted(name: string, sizeBytes: bigint, fsType: FsType = 'ext4') {
    const file = await this.formatted(`${name}.img`, sizeBytes, fsType);
    const device = await this.attach(file);
    return { file, device, target: await this.mount(device.path, name, { fsType }) };
  }

  close(): void {
    fs.rmSync(this.folder, { recursive: true });
  }
}
