import * as path from 'node:path';
import type { Method, ResponseOf } from '../../src/csi/rpcs';
import { applyCondition, type DiskTarget, type PreparedDisk } from '../../src/faults/disk';
import { HostError } from '../../src/host/host';
import { createLinuxHost } from '../../src/host/linux';
import type { DiskCondition } from '../../src/scenarios/model';
import type { FaultGate, GateCall } from '../../src/server/gate';
import { TestDriver } from './driver';

/** A driver in a process of its own, which a test kills: it says on its output when calls have come to the point. */
export interface ChildConfig {
  root: string;
  dataDir: string;
  cacheDir: string;
  hold: { method: string; point: string };
  capabilities: string;
  /** As where CAP_SYS_RESOURCE is missing, also on machines that have it. */
  refuseGrowth: boolean;
  /** What every disk meets before it is staged, once armed. */
  condition?: DiskCondition;
  /** Files of scenarios, which then act in place of `hold` and `condition`, on this very process. */
  scenarios?: string[];
}

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Holds every call that comes to the point, once it is armed. */
class HoldingGate implements FaultGate {
  armed = false;

  constructor(private readonly config: Pick<ChildConfig, 'hold' | 'condition'>) {}

  async before<M extends Method>(_call: GateCall<M>): Promise<ResponseOf<M> | undefined> {
    return undefined;
  }

  async after<M extends Method>(call: GateCall<M>, response: ResponseOf<M>): Promise<ResponseOf<M>> {
    await this.point(call as GateCall, 'after');
    return response;
  }

  async point(call: GateCall, name: string): Promise<void> {
    const { method, point } = this.config.hold;
    if (!this.armed || call.method !== method || name !== point) return;
    say('reached');
    await new Promise(() => undefined);
  }

  async disk(_call: GateCall, target: DiskTarget): Promise<PreparedDisk | undefined> {
    const { condition } = this.config;
    return this.armed && condition ? applyCondition(condition, target) : undefined;
  }
}

async function main(): Promise<void> {
  const config = JSON.parse(process.argv[2] ?? '{}') as ChildConfig;
  const host = createLinuxHost({ stateDir: path.join(config.root, 'state'), cacheDir: config.cacheDir });
  const { filesystems } = host;
  const gate = new HoldingGate(config);
  process.stdin.once('data', () => {
    gate.armed = true;
    say('armed');
  });
  const driver = await TestDriver.start({
    backend: 'loop',
    host: config.refuseGrowth
      ? {
          ...host,
          filesystems: {
            ...filesystems,
            growMounted: async (at, fsType) => {
              if (fsType === 'ext4') throw new HostError('EPERM', 'EXT4_IOC_RESIZE_FS', `${at}: EPERM`);
              await filesystems.growMounted(at, fsType);
            },
          },
        }
      : host,
    root: config.root,
    dataDir: config.dataDir,
    capabilities: config.capabilities,
    ...(config.scenarios ? { scenarios: config.scenarios } : { faults: gate }),
  });
  say(`ready ${driver.dir}`);
}

void main();
