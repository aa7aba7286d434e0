import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { Case } from '../../../src/conformance/case';
import { type Connection, connect } from '../../../src/conformance/connection';
import type { Hints } from '../../../src/conformance/hints';
import { ownHintsWithScenario, ownScenario } from '../../../src/conformance/own-hints';
import type { DriverRun } from '../../../src/conformance/probe';
import { type Run, runCases } from '../../../src/conformance/run';
import { createMemoryHost } from '../../../src/host/memory';
import { SecretPolicy } from '../../../src/server/secrets';
import { MIB } from '../../../src/util/quantity';
import { definitions, TestDriver, type TestDriverOptions } from '../../support/driver';

/** Nothing is attached, volumes are anywhere and unchanging, stats are conditions only. */
const FEW = [
  '-PUBLISH_UNPUBLISH_VOLUME',
  '-PUBLISH_READONLY',
  '-LIST_VOLUMES_PUBLISHED_NODES',
  '-VOLUME_ACCESSIBILITY_CONSTRAINTS',
  '-MODIFY_VOLUME',
  '-CLONE_VOLUME',
  '-node.EXPAND_VOLUME',
  '-GET_VOLUME_STATS',
  '-SNAPSHOT_METADATA_SERVICE',
].join(',');

/** What our own driver is in turn, so that every case has one that it applies to. */
export const KINDS = {
  all: {},
  few: { capabilities: FEW },
  noStage: { capabilities: '-STAGE_UNSTAGE_VOLUME' },
  nodeOnly: { profile: 'node', advertise: 'node' },
  controllerOnly: { profile: 'controller' },
  offline: { capabilities: '-ONLINE,+OFFLINE' },
  secrets: {},
  /** Controller and node are two processes. */
  split: { profile: 'controller' },
} as const satisfies Record<string, Partial<TestDriverOptions>>;

export type Kind = keyof typeof KINDS;

const ELSEWHERE = { 'topology.fake.csi.test/zone': 'elsewhere' };
const OTHER_NODE = 'node-2';

/** A driver of our own and all that cases ask about. */
export class ConformanceBench {
  /** What the driver logged, as far as a lie has it log. */
  traces = '';
  runDriver: () => Promise<DriverRun | undefined> = async () => ({ code: 1, stderr: 'expected a socket' });

  private constructor(
    private readonly kind: Kind,
    private readonly files: string,
    readonly first: TestDriver,
    private readonly second: TestDriver | undefined,
  ) {}

  /** @param hasOtherNode two nodes, where the kind does not have two processes anyway */
  static async open(kind: Kind, hasOtherNode = true): Promise<ConformanceBench> {
    const files = await fs.mkdtemp(path.join(tmpdir(), 'fake-csi-conformance-'));
    const scenario = path.join(files, 'conformance.yaml');
    await fs.writeFile(scenario, ownScenario);
    const secrets = path.join(files, 'secrets.json');
    await fs.writeFile(secrets, JSON.stringify({ identities: [{ secrets: { user: 'admin' } }] }));
    const options = {
      backend: 'memory' as const,
      maxVolumesPerNode: 4,
      maxVolumeBytes: 2n ** 61n,
      advertise: 'all' as const,
      extraTopologies: [ELSEWHERE],
      scenarios: [scenario],
      ...KINDS[kind],
      ...(kind === 'secrets' && { secrets: SecretPolicy.read(secrets) }),
    };
    const first = await TestDriver.start({ ...options, host: createMemoryHost() });
    if (kind !== 'split' && !hasOtherNode) return new ConformanceBench(kind, files, first, undefined);
    const second = await TestDriver.start({
      ...options,
      host: createMemoryHost(),
      profile: 'node',
      nodeId: kind === 'split' ? 'node-1' : OTHER_NODE,
      dataDir: first.dataDir,
    });
    return new ConformanceBench(kind, files, first, second);
  }

  get socket(): string {
    return (this.second && this.kind === 'split' ? this.second : this.first).driver.socketPath;
  }

  get hints(): Hints {
    return {
      ...ownHintsWithScenario,
      otherTopology: ELSEWHERE,
      ...(this.second && this.kind !== 'split' && { otherNode: OTHER_NODE }),
      ...(this.kind === 'secrets' && { secrets: { user: 'admin' }, wrongSecrets: { user: 'nobody' } }),
    };
  }

  async run(
    cases: readonly Case[],
    around: (honest: Connection) => Connection = (honest) => honest,
  ): Promise<Run> {
    const isSplit = this.kind === 'split';
    const sockets = {
      socket: this.socket,
      ...(isSplit && { controllerSocket: this.first.driver.socketPath }),
    };
    const connection = around(connect(sockets, definitions()));
    try {
      return await runCases({
        connection,
        cases,
        hints: this.hints,
        folder: await this.first.folder('targets'),
        runId: 'unit',
        socket: this.socket,
        hasControllerSocket: isSplit,
        timeoutMs: 20_000,
        sizeBytes: 64n * MIB,
        now: () => performance.now(),
        runDriver: () => this.runDriver(),
        readTraces: async () => this.traces,
      });
    } finally {
      connection.close();
    }
  }

  async close(): Promise<void> {
    await this.second?.close();
    await this.first.close();
    await fs.rm(this.files, { recursive: true, force: true });
  }
}
