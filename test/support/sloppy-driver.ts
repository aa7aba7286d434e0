import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Metadata, Server, ServerCredentials, type ServiceDefinition, status } from '@grpc/grpc-js';
import type { CsiMethod } from '../../src/csi/rpcs';
import { definitions } from './driver';

interface Volume {
  volume_id: string;
  capacity_bytes: string;
}

/** What of its requests it looks at. */
interface Request {
  name: string;
  volume_id: string;
  target_path: string;
  capacity_range: { required_bytes: string } | null;
  volume_capabilities: object[];
}

type Handler = (request: Request) => object | Promise<object>;

class Refusal extends Error {
  constructor(readonly code: number) {
    super('');
  }
}

/**
 * A CSI driver as a first draft of one is: a volume's happy way from CreateVolume to DeleteVolume is there, on folders, and
 * next to nothing is checked. It has no attach, no stage, no snapshots and no group, and its errors say nothing.
 */
export class SloppyDriver {
  private readonly volumes = new Map<string, Volume>();
  private readonly server = new Server();

  private constructor(readonly socket: string) {}

  static async start(folder: string): Promise<SloppyDriver> {
    const driver = new SloppyDriver(path.join(folder, 'csi.sock'));
    const services = definitions();
    for (const service of [services.Identity, services.Controller, services.Node])
      driver.server.addService(service as unknown as ServiceDefinition, driver.implementation(service));
    await new Promise<void>((resolve, reject) =>
      driver.server.bindAsync(`unix:${driver.socket}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    );
    return driver;
  }

  stop(): void {
    this.server.forceShutdown();
  }

  private readonly handlers: { readonly [M in CsiMethod]?: Handler } = {
    GetPluginInfo: () => ({ name: 'sloppy_driver', vendor_version: '0' }),
    GetPluginCapabilities: () => ({ capabilities: [{ service: { type: 'CONTROLLER_SERVICE' } }] }),
    Probe: () => ({}),
    ControllerGetCapabilities: () => ({
      capabilities: ['CREATE_DELETE_VOLUME', 'LIST_VOLUMES', 'EXPAND_VOLUME'].map((type) => ({
        rpc: { type },
      })),
    }),
    NodeGetCapabilities: () => ({ capabilities: [{ rpc: { type: 'GET_VOLUME_STATS' } }] }),
    NodeGetInfo: () => ({ node_id: 'sloppy', accessible_topology: { segments: { zone: 'here' } } }),
    CreateVolume: ({ name, capacity_range }) => {
      const bytes = Number(capacity_range?.required_bytes || 0);
      const volume = { volume_id: `v-${name}`, capacity_bytes: `${Math.abs(bytes) || 2 ** 30}` };
      this.volumes.set(volume.volume_id, volume);
      return { volume };
    },
    DeleteVolume: ({ volume_id }) => {
      if (!this.volumes.delete(volume_id)) throw new Refusal(status.NOT_FOUND);
      return {};
    },
    ValidateVolumeCapabilities: ({ volume_capabilities }) => ({ confirmed: { volume_capabilities } }),
    ListVolumes: () => ({ entries: [...this.volumes.values()].map((volume) => ({ volume })) }),
    ControllerExpandVolume: ({ capacity_range }) => ({
      capacity_bytes: capacity_range?.required_bytes ?? '0',
      node_expansion_required: true,
    }),
    NodePublishVolume: async ({ target_path }) => {
      await fs.mkdir(target_path, { recursive: true });
      return {};
    },
    NodeUnpublishVolume: async ({ target_path }) => {
      await fs.rm(target_path, { recursive: true, force: true });
      return {};
    },
    NodeGetVolumeStats: () => ({ usage: [{ unit: 'BYTES', total: '10', used: '10', available: '10' }] }),
  };

  private implementation(service: object) {
    const served = Object.keys(service) as CsiMethod[];
    return Object.fromEntries(
      served.map((method) => [
        method,
        (call: { request: Request }, answer: (error: object | null, value?: object) => void) => {
          const handler = this.handlers[method];
          Promise.resolve()
            .then(() => {
              if (!handler) throw new Refusal(status.UNKNOWN);
              return handler(call.request);
            })
            .then(
              (value) => answer(null, value),
              (error: Error) => answer(refusalOf(error)),
            );
        },
      ]),
    );
  }
}

function refusalOf(error: Error): object {
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from('sloppy'));
  return { code: error instanceof Refusal ? error.code : status.INTERNAL, details: error.message, metadata };
}
