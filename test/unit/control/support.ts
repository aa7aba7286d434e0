import { renameSync } from 'node:fs';
import { type OutgoingHttpHeaders, request } from 'node:http';
import { createServer } from 'node:net';
import { type ControlOptions, ControlServer } from '../../../src/control';
import { type ControlClient, connectControl } from '../../../src/control/client';
import type { Host } from '../../../src/host/host';
import { createMemoryHost } from '../../../src/host/memory';
import { TestDriver, type TestDriverOptions } from '../../support/driver';

/** A driver on a model of the machine, its control API and a client of it. Every reply is read with its schema. */
export interface Controlled {
  readonly test: TestDriver;
  readonly server: ControlServer;
  readonly control: ControlClient;
  close(): Promise<void>;
}

export async function startControlled(
  options: Partial<TestDriverOptions> & { control?: ControlOptions; host?: Host } = {},
): Promise<Controlled> {
  const { control: controlOptions = {}, host = createMemoryHost(), ...rest } = options;
  const test = await TestDriver.start({ backend: 'memory', host, ...rest });
  const server = await ControlServer.start(test.driver, { checkReplies: true, ...controlOptions });
  return {
    test,
    server,
    control: connectControl({ socket: server.socket ?? '' }),
    close: async () => {
      await server.stop();
      await test.close();
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The text, read as JSON. */
  json<T = Record<string, unknown>>(): T;
}

export interface Raw {
  method?: string;
  path?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
}

/** A request as no client of ours would send it. */
export function raw(where: { socketPath: string } | { port: number }, asked: Raw = {}): Promise<Answer> {
  const { method = 'GET', path = '/v1/status', headers = {}, body } = asked;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', ...where, method, path, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('error', reject);
      answer.once('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text,
          json: <T>() => JSON.parse(text) as T,
        });
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

export const SCENARIO = `apiVersion: fake-csi/v1
kind: Scenario
metadata:
  name: slow
spec:
  machines:
    attach: {initial: pending}
  rules:
    - name: busy
      match: {rpc: Probe}
      when: {machine: {attach: [pending, lost]}}
      then: [{error: {code: UNAVAILABLE, message: busy}}]
  expect:
    - {rpc: Probe, code: UNAVAILABLE, count: ">=1"}
`;

/** What Probe answers: OK, or the name of the code. */
export function probe({ test }: { test: TestDriver }): Promise<string> {
  return test.csi.Probe().then(
    () => 'OK',
    ({ codeName }: { codeName: string }) => codeName,
  );
}

/** A socket as SIGKILL leaves it: Node would remove the file of a server that is closed. */
export async function listenAndLeave(file: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${file}.x`, resolve));
  renameSync(`${file}.x`, file);
  await new Promise((resolve) => server.close(resolve));
}
