import * as path from 'node:path';
import type { Argv } from 'yargs';
import type { Command } from '../command';
import { EXIT } from '../exit-codes';
import { print } from '../output';

interface Arguments {
  manifests: string[];
  scenario: string[];
  steps: string;
  kubelet: '1.32' | '1.36';
  nodeStatusUpdateFrequency?: string;
  syncFrequency?: string;
  volumeStatsAggPeriod?: string;
  seed: number;
  format: 'timeline' | 'events' | 'calls' | 'json' | 'html';
  endpoint?: string;
  realTime: boolean;
  rootDir?: string;
  driverName?: string;
  capabilities?: string;
}

const DEFAULT_STEPS = 'create; wait running; delete; wait clean';

export const rehearse: Command<Arguments> = {
  command: 'rehearse <manifests..>',
  describe: 'Play what a kubelet and the controllers around it would do with manifests and a driver',
  builder: (y: Argv) =>
    y
      .positional('manifests', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'Pods, claims, volumes, StorageClasses, CSIDrivers, Secrets, StatefulSets',
      })
      .options({
        scenario: {
          type: 'string',
          array: true,
          default: [],
          describe: 'Scenario file for the driver; more than once',
        },
        steps: {
          type: 'string',
          default: DEFAULT_STEPS,
          describe: 'What to do, one after another (docs/rehearsal.md)',
        },
        kubelet: {
          // Or yargs takes it for a number, which is none of them.
          type: 'string',
          choices: ['1.32', '1.36'] as const,
          default: '1.36',
          describe: 'Version whose ways are played',
        },
        'node-status-update-frequency': {
          type: 'string',
          describe: 'Of the kubelet, as in its configuration (10s): how soon a volume is reported in use',
        },
        'sync-frequency': { type: 'string', describe: 'Of the kubelet, as in its configuration (1m)' },
        'volume-stats-agg-period': {
          type: 'string',
          describe: 'Of the kubelet, as in its configuration (1m)',
        },
        seed: { type: 'number', default: 1, describe: 'Of every draw: uids, jitter' },
        format: {
          choices: ['timeline', 'events', 'calls', 'json', 'html'] as const,
          default: 'timeline',
          describe: 'What to print at the end',
        },
        endpoint: {
          type: 'string',
          describe: 'Another CSI driver, such as unix:///run/other/csi.sock, in real time',
        },
        'real-time': { type: 'boolean', default: false, describe: 'Says again what --endpoint implies' },
        'root-dir': {
          type: 'string',
          describe: "The kubelet's folder, empty; kept at the end (default: a temporary one)",
        },
        'driver-name': { type: 'string', describe: 'Name of our own driver (default: fake.csi.test)' },
        capabilities: {
          type: 'string',
          describe: 'Of our own driver: `-NAME` switches one off (docs/options.md)',
        },
      })
      .example('$0 rehearse examples/postgres.yaml', 'create; wait running; delete; wait clean')
      .example(
        "$0 rehearse examples/pod.yaml --steps 'create; wait running; kubelet restart; advance 1m'",
        'NodeStageVolume and NodePublishVolume come again',
      ),
  run: async (args) => {
    const { parseDuration, parseSteps } =
      require('../../kubelet/steps/grammar') as typeof import('../../kubelet/steps/grammar');
    const formats =
      require('../../kubelet/timeline/formats') as typeof import('../../kubelet/timeline/formats');
    const { rehearse: play } = require('../../embedded/rehearse') as typeof import('../../embedded/rehearse');
    check(args);
    const period = (name: string, option: string, written: string | undefined) => {
      if (written === undefined) return {};
      const ms = parseDuration(written);
      if (ms !== undefined && ms > 0) return { [name]: ms };
      throw new Error(`${option}: expected a duration such as 1s or 1m30s, found ${JSON.stringify(written)}`);
    };
    const isLive = args.endpoint !== undefined && args.format === 'timeline';
    const { outcome, rehearsal, timeline } = await play({
      manifests: args.manifests,
      scenarios: args.scenario.map((file) => path.resolve(file)),
      steps: parseSteps(args.steps),
      version: args.kubelet,
      seed: args.seed,
      configuration: {
        ...period('nodeStatusUpdateMs', '--node-status-update-frequency', args.nodeStatusUpdateFrequency),
        ...period('syncMs', '--sync-frequency', args.syncFrequency),
        ...period('volumeStatsMs', '--volume-stats-agg-period', args.volumeStatsAggPeriod),
      },
      endpoint: args.endpoint,
      rootDir: args.rootDir,
      driverName: args.driverName,
      capabilities: args.capabilities,
      print: isLive ? print : undefined,
    });
    const events = rehearsal.cluster.events.all();
    if (args.format === 'json') print(formats.jsonText(timeline, events, outcome));
    else if (args.format === 'html') {
      const { htmlText } =
        require('../../kubelet/timeline/html') as typeof import('../../kubelet/timeline/html');
      print(htmlText(timeline, outcome, `Rehearsal of ${args.manifests.join(', ')}: ${args.steps}`));
    } else {
      if (args.format === 'events') print(formats.eventsText(events));
      else if (args.format === 'calls') print(formats.callsText(timeline.calls));
      else if (!isLive) print(formats.timelineText(timeline.entries));
      print(formats.outcomeText(outcome, timeline.elapsed));
    }
    return outcome.passed ? EXIT.OK : EXIT.FAILED;
  },
};

/** @throws Error with one line about options that do not go together */
function check({ endpoint, realTime, scenario, seed, driverName, capabilities }: Arguments): void {
  if (!Number.isSafeInteger(seed)) throw new Error(`--seed: expected a whole number, found ${seed}`);
  if (endpoint === undefined) {
    if (realTime)
      throw new Error('--real-time: only with --endpoint; our own driver is rehearsed in virtual time');
    return;
  }
  if (scenario.length > 0)
    throw new Error('--scenario: not with --endpoint; give the scenario to the driver that listens there');
  if (driverName !== undefined || capabilities !== undefined)
    throw new Error('--driver-name and --capabilities are of our own driver: not with --endpoint');
}
