import { writeFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import type { Result } from '../../conformance/run';
import { type Command, UsageError } from '../command';
import { EXIT } from '../exit-codes';
import { print, printJson } from '../output';

interface Arguments {
  endpoint?: string;
  controllerEndpoint?: string;
  targetDir?: string;
  case: string[];
  skip: string[];
  rpc: string[];
  level: string[];
  parameters: string[];
  secrets?: string;
  hints?: string;
  command?: string;
  lookIn: string[];
  size: string;
  timeout: string;
  backend: 'memory' | 'loop' | 'tmpfs' | 'directory';
  services: 'all' | 'node' | 'controller';
  capabilities: string;
  list: boolean;
  json: boolean;
  junit?: string;
}

const words = { type: 'string', array: true, default: [] as string[] } as const;

export const conformance: Command<Arguments> = {
  command: 'conformance',
  describe: 'Ask a CSI driver, ours or any other, for what the specification demands beyond csi-sanity',
  builder: (y: Argv) =>
    y
      .options({
        endpoint: {
          type: 'string',
          describe:
            'Socket of the driver, such as unix:///run/other/csi.sock (default: our own, in this process)',
        },
        'controller-endpoint': { type: 'string', describe: "The controller's, where it has one of its own" },
        'target-dir': {
          type: 'string',
          alias: 'staging-dir',
          describe:
            'Folder for staging and target paths that the driver sees, too (default: a temporary one)',
        },
        case: { ...words, describe: 'Only cases of this id; more than once' },
        skip: { ...words, describe: 'Not the case of this id; more than once' },
        rpc: { ...words, describe: 'Only cases of this RPC or service; more than once' },
        level: {
          ...words,
          choices: ['must', 'should', 'allowed', 'decision'],
          describe: 'Only cases that bind so much; more than once',
        },
        parameters: { ...words, describe: 'key=value for every CreateVolume; more than once' },
        secrets: { type: 'string', describe: 'File (YAML, JSON) with the secrets of every request' },
        hints: {
          type: 'string',
          describe:
            'File (YAML, JSON) with what the driver cannot be asked, or fake-csi (docs/conformance.md)',
        },
        command: { type: 'string', describe: 'Starts the driver, with CSI_ENDPOINT set: for T21' },
        'look-in': { ...words, describe: 'Log file, or folder of records, that secrets must not be in' },
        size: { type: 'string', default: '1Gi', describe: 'Of an ordinary volume' },
        timeout: { type: 'string', default: '60s', describe: 'For each call' },
        backend: {
          choices: ['memory', 'loop', 'tmpfs', 'directory'] as const,
          default: 'memory' as const,
          describe: 'Of our own driver',
        },
        services: {
          choices: ['all', 'node', 'controller'] as const,
          default: 'all' as const,
          describe: 'Of our own driver',
        },
        capabilities: { type: 'string', default: 'all', describe: 'Of our own driver (docs/options.md)' },
        list: { type: 'boolean', default: false, describe: 'Show the cases and do nothing' },
        json: { type: 'boolean', default: false, describe: 'For programs' },
        junit: { type: 'string', describe: 'Also write the outcomes there as JUnit XML' },
      })
      .example('$0 conformance', 'our own driver')
      .example('$0 conformance --endpoint unix:///run/other/csi.sock --junit out.xml', 'another one')
      .example('$0 conformance --rpc NodePublishVolume --case D01', 'a part of it'),
  run: async (args) => {
    const settings = require('../conformance/settings') as typeof import('../conformance/settings');
    const { allCases } = require('../../conformance/cases') as typeof import('../../conformance/cases');
    const report = require('../../conformance/report') as typeof import('../../conformance/report');
    const cases = settings.selectCases(allCases, args);
    if (args.list) {
      print(report.casesTable(cases));
      return EXIT.OK;
    }
    const { runConformance } = require('../conformance/run') as typeof import('../conformance/run');
    const told = process.stderr.isTTY ? progress(cases.length) : undefined;
    const run = await runConformance({ cases, ...optionsOf(args), ...(told && { told }) });
    if (told) process.stderr.write('\r\x1b[K');
    const { results } = run;
    if (args.junit !== undefined) {
      const { junitXml } = require('../conformance/junit') as typeof import('../conformance/junit');
      writeFileSync(args.junit, junitXml(run.facts.name, results, new Date().toISOString()));
    }
    if (args.json) printJson(report.resultsJson(run));
    else {
      print(`${run.facts.name} ${run.facts.version}\n\n${report.resultsTable(results)}\n`);
      for (const text of [
        report.failuresText(results),
        report.leftBehindText(results),
        report.goneText(results),
      ])
        if (text) print(`${text}\n\n`);
      print(report.closingLine(results));
    }
    return report.countsOf(results).failed > 0 ? EXIT.FAILED : EXIT.OK;
  },
};

/** One line for a person who waits, that the table takes the place of. */
function progress(total: number) {
  let done = 0;
  return ({ case: { id, rpc }, status }: Result) => {
    done += 1;
    process.stderr.write(`\r\x1b[K${done} of ${total}: ${id} ${rpc} ${status}`);
  };
}

/** @throws UsageError, Error with one line */
function optionsOf(args: Arguments) {
  const settings = require('../conformance/settings') as typeof import('../conformance/settings');
  const { socketPathOf } = require('../../server/endpoint') as typeof import('../../server/endpoint');
  const { parseQuantity } = require('../../util/quantity') as typeof import('../../util/quantity');
  const { parseDuration } = require('../../scenarios/language') as typeof import('../../scenarios/language');
  const { endpoint, controllerEndpoint, backend, services, capabilities } = args;
  if (endpoint === undefined && controllerEndpoint !== undefined)
    throw new UsageError('--controller-endpoint: only beside --endpoint');
  if (endpoint !== undefined && (backend !== 'memory' || services !== 'all' || capabilities !== 'all'))
    throw new UsageError(
      '--backend, --services and --capabilities are of our own driver: not with --endpoint',
    );
  const sizeBytes = parseQuantity(args.size);
  if (sizeBytes === undefined || sizeBytes < 2n)
    throw new UsageError(`--size: expected a size such as 1Gi, found ${JSON.stringify(args.size)}`);
  const timeout = parseDuration(args.timeout);
  if (!('value' in timeout) || timeout.value <= 0)
    throw new UsageError(`--timeout: expected a duration such as 60s, found ${JSON.stringify(args.timeout)}`);
  const sockets =
    endpoint === undefined
      ? undefined
      : {
          socket: socketPathOf(endpoint),
          ...(controllerEndpoint !== undefined && { controllerSocket: socketPathOf(controllerEndpoint) }),
        };
  const parameters = settings.keyValues('--parameters', args.parameters);
  const hints = settings.hintsFrom(args.hints);
  const ownCommand = [process.execPath, process.argv[1] ?? '', 'serve'];
  return {
    sockets,
    own: { backend, services, capabilities },
    hints: {
      ...hints,
      parameters: { ...hints.parameters, ...parameters },
      ...(args.secrets !== undefined && { secrets: settings.secretsFrom(args.secrets) }),
    },
    command: args.command === undefined ? (sockets ? undefined : ownCommand) : args.command.split(/\s+/),
    traces: args.lookIn,
    targetDir: args.targetDir,
    timeoutMs: timeout.value,
    sizeBytes,
  };
}
