import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as path from 'node:path';
import { lockSoon } from '../../host/lock-soon';
import type { Driver } from '../../server/driver';
import { UnixSocket } from '../../server/socket';
import { ensureFolder, errnoOf } from '../../util/files';
import { isListening } from '../../util/listening';
import { CONTROL_SOCKET, socketNameOf } from '../find-socket';
import { parseListen } from '../listen';
import { CallMetrics } from './call-metrics';
import { type Context, type Places, timelineOf } from './context';
import type { Dispatcher } from './dispatch';
import { admit, type Way } from './guard';
import { HttpServer } from './http';
import { Peers } from './peers';
import { Token, tokenOfFile } from './token';

export interface ControlOptions {
  /** Loopback address and port to listen on too, as `127.0.0.1:9810`. */
  listen?: string | undefined;
  /** For `listen`; otherwise that of `tokenFile`. */
  token?: string | undefined;
  /** Made when it is not there; default `<data-dir>/control-token`. */
  tokenFile?: string | undefined;
  /** Reads every reply with its schema. For tests. */
  checkReplies?: boolean;
  /** Longest time to a request's whole head, and to its whole body. */
  headMs?: number;
  bodyMs?: number;
  /** How often a stream without news says that it lives. */
  heartbeatMs?: number;
}

/** The kernel's sun_path has 108 bytes, one of them the end. */
const MAX_SOCKET_PATH = 107;
const HEAD_MS = 10_000;
const BODY_MS = 10_000;
const HEARTBEAT_MS = 15_000;
const STOP_MS = 1_000;

/** The control API of one driver. Nothing in it waits for the pipeline of calls. */
export class ControlServer {
  /** Undefined: the data folder's path is too long for one, or it could not be made; the log says which. */
  socket: string | undefined;
  url: string | undefined;
  private readonly stopping = unlimited(new AbortController());
  private readonly running = new Set<Promise<void>>();
  private unix: UnixSocket | undefined;
  private readonly servers: HttpServer[] = [];
  private readonly metrics: CallMetrics;
  private readonly startedAt: string;
  private dispatcher: Dispatcher | undefined;

  private constructor(
    private readonly driver: Driver,
    private readonly options: ControlOptions,
  ) {
    this.metrics = new CallMetrics(driver);
    this.startedAt = startOf(driver);
  }

  /**
   * Begins to count calls and listens, on the Unix socket and where `listen` says.
   * @throws Error with one line when `listen` is not possible; what is wrong with the socket is logged.
   */
  static async start(driver: Driver, options: ControlOptions = {}): Promise<ControlServer> {
    const control = new ControlServer(driver, options);
    try {
      await control.listenOnSocket();
      if (options.listen !== undefined) await control.listenOnPort(options.listen);
      return control;
    } catch (error) {
      await control.stop();
      throw error;
    }
  }

  private async listenOnSocket(): Promise<void> {
    const { log, layout, host, clock } = this.driver.env;
    const http = this.serve({ kind: 'unix' });
    try {
      ensureFolder(layout.control, 0o700);
      // Two processes that start at one moment must not both find the place free.
      const unlock = await lockSoon(host, path.join(layout.locks, 'control.lock'), clock);
      try {
        const file = await this.chooseSocket();
        if (file === undefined) return;
        const unix = new UnixSocket({ file, log, onConnection: (connection) => http.take(connection) });
        await unix.listen();
        this.socket = file;
        this.unix = unix;
      } finally {
        await unlock();
      }
    } catch (error) {
      log.error(
        { folder: layout.control, error: String(error) },
        'no control socket: status, calls and scenarios of this process cannot be asked for',
      );
    }
  }

  private async chooseSocket(): Promise<string | undefined> {
    const { env, processName } = this.driver;
    const first = path.join(env.layout.control, CONTROL_SOCKET);
    const file = (await isListening(first))
      ? path.join(env.layout.control, socketNameOf(processName))
      : first;
    const length = Buffer.byteLength(file);
    if (length <= MAX_SOCKET_PATH) return file;
    env.log.warn(
      { socket: file, bytes: length },
      `no control socket: a socket's path has at most ${MAX_SOCKET_PATH} bytes; choose a shorter --data-dir, or --control-listen`,
    );
    return undefined;
  }

  private async listenOnPort(text: string): Promise<void> {
    const { token, tokenFile } = this.options;
    const { host, port, loopback } = parseListen(text, token !== undefined || tokenFile !== undefined);
    const known = this.token();
    const way = { kind: 'tcp' as const, host, loopback, port, token: known };
    const { server } = this.serve(way);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) =>
        reject(new Error(`--control-listen ${text}: ${errnoOf(error) ?? error.message}; choose another`)),
      );
      server.listen({ host, port }, resolve);
    });
    way.port = (server.address() as AddressInfo).port;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${way.port}`;
  }

  private token(): Token {
    const { token, tokenFile } = this.options;
    if (token !== undefined) return new Token(token, 'FAKE_CSI_CONTROL_TOKEN');
    return tokenOfFile(tokenFile ?? path.join(this.driver.env.layout.root, 'control-token'));
  }

  private serve(way: Way): HttpServer {
    const http = new HttpServer({
      headMs: this.options.headMs ?? HEAD_MS,
      answer: (request, response) => {
        const done = this.answer(way, request, response);
        this.running.add(done);
        void done.finally(() => this.running.delete(done));
      },
    });
    this.servers.push(http);
    return http;
  }

  private async answer(way: Way, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const leave = new AbortController();
    const end = () => leave.abort(new Error('the client left, or the driver is stopping'));
    response.once('close', end);
    this.stopping.signal.addEventListener('abort', end);
    try {
      admit(way, request.headers);
      await this.dispatch().answer(request, response, leave.signal);
    } catch (error) {
      this.refuse(error, response);
    } finally {
      this.stopping.signal.removeEventListener('abort', end);
    }
  }

  private refuse(error: unknown, response: ServerResponse): void {
    const { problemOf } = require('./dispatch') as typeof import('./dispatch');
    const { sendProblem } = require('./reply') as typeof import('./reply');
    const problem = problemOf(error, this.stopping.signal.aborted);
    if (problem.code === 'internal' && !response.destroyed)
      this.driver.env.log.error(
        { error: error instanceof Error ? (error.stack ?? String(error)) : String(error) },
        'a control request failed',
      );
    sendProblem(response, problem);
  }

  /** zod and yaml take a tenth of a second to load: only a process that is asked something needs them. */
  private dispatch(): Dispatcher {
    if (this.dispatcher) return this.dispatcher;
    const { Dispatcher: Loaded } = require('./dispatch') as typeof import('./dispatch');
    const { checkReplies = false, bodyMs = BODY_MS, heartbeatMs = HEARTBEAT_MS } = this.options;
    this.dispatcher = new Loaded(this.context(), { checkReplies, bodyMs, heartbeatMs });
    return this.dispatcher;
  }

  private context(): Context {
    const { driver, metrics, startedAt } = this;
    const places = (): Places => ({ socket: this.socket, url: this.url });
    return {
      driver,
      metrics,
      startedAt,
      places,
      timeline: timelineOf(driver),
      peers: new Peers(driver.env.layout.control, () => this.socket),
      freshName: () => `rule-${randomBytes(4).toString('hex')}`,
    };
  }

  /** Listens no more, ends what follows or waits, and removes the socket. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.metrics.stop();
    await this.unix?.stopAccepting();
    const patience = new AbortController();
    const waited = this.driver.env.clock.sleep(STOP_MS, patience.signal).catch(() => undefined);
    await Promise.race([Promise.allSettled([...this.running]), waited]);
    patience.abort();
    for (const server of this.servers) server.close();
  }
}

/** When this run of the process began, as its journal has it. */
function startOf({ journal, env }: Driver): string {
  const started = journal.entries().findLast((entry) => entry.type === 'event' && entry.event === 'started');
  return started?.at ?? new Date(env.clock.now()).toISOString();
}

/** Every request that runs listens to it, and followers run for days: Node would warn of a leak at the eleventh. */
function unlimited(controller: AbortController): AbortController {
  setMaxListeners(0, controller.signal);
  return controller;
}
