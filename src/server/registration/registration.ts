import type { RegistrationControl } from '../../scenarios/engine/actions/action';
import type { RegistrationAct } from '../../scenarios/model';
import type { Clock } from '../../util/clock';
import type { Log } from '../../util/log';
import { adviceOn } from './advice';
import { type ActedBy, RegistrationHolds } from './holds';
import type { ShownSockets } from './sockets';

/** `waiting`: the kubelet has not said anything yet, or is to believe that the plugin is gone. */
export type RegistrationState = 'waiting' | 'registered' | 'refused';

/** Paths of the sockets, as the kubelet sees them. */
export interface RegistrationFiles {
  readonly socket: { readonly file: string };
  /** A second one with the same driver's name, for rules. */
  readonly second: { readonly file: string };
}

export interface RegistrationOptions {
  place: RegistrationFiles;
  /** Path of the CSI socket as the kubelet sees it. */
  endpoint: string;
  clock: Clock;
  log: Log;
  /** @param spokeAndLeft to be told of a client that connected, sent bytes and made no call. */
  sockets(spokeAndLeft: (bytes: number) => void): ShownSockets;
  event(event: RegistrationEvent, details: object): void;
}

/** What it tells of itself, for the journal. */
export type RegistrationEvent =
  | 'registrationOffered'
  | 'registrationWithdrawn'
  | 'registered'
  | 'registrationRefused'
  | 'registrationFailed';

export interface Notice {
  readonly registered: boolean;
  /** The kubelet's words. */
  readonly error: string;
  /** The one it was told on. */
  readonly socket: string | undefined;
}

const OLD_KUBELET =
  'a kubelet connected, spoke and left without a call: one before 1.29 sends the path of the socket as :authority, which HTTP/2 refuses here; let node-driver-registrar register this driver, without --register (docs/registration.md)';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 120_000;

/** This plugin at the kubelet: its sockets in plugins_registry, what the kubelet said, and what rules make of it. */
export class Registration implements RegistrationControl {
  private readonly sockets: ShownSockets;
  private readonly holds: RegistrationHolds;
  private state: RegistrationState = 'waiting';
  private since: number;
  private why: string | undefined;
  /** Changes of the sockets, one after the other. */
  private changing: Promise<void> = Promise.resolve();
  private running = false;
  private killed = false;
  private refusals = 0;
  private renewal: AbortController | undefined;

  constructor(private readonly options: RegistrationOptions) {
    const { clock, sockets } = options;
    this.since = clock.now();
    this.sockets = sockets((bytes) => this.noticeOldKubelet(bytes));
    this.holds = new RegistrationHolds(clock, () => this.change());
  }

  get endpoint(): string {
    return this.options.endpoint;
  }

  /** To be called once the CSI socket listens: the kubelet dials it as soon as it sees the registration. */
  async start(): Promise<void> {
    this.running = true;
    this.change();
    await this.changing;
    if (this.failure) throw this.failure;
  }

  /** Removes the sockets, upon which the kubelet de-registers the driver. Calls that run may end; `close` cuts them off. */
  async stop(): Promise<void> {
    this.running = false;
    this.renewal?.abort();
    this.holds.end(() => true);
    this.change();
    await this.changing;
  }

  close(): void {
    this.sockets.close();
  }

  /** Ends as a killed process does: the kubelet goes on believing in the file that is left. */
  kill(): void {
    this.killed = true;
    this.running = false;
    this.renewal?.abort();
    this.sockets.leave();
    this.close();
  }

  act(act: RegistrationAct, by: ActedBy): void {
    this.holds.add(act, by);
  }

  heal(scenario?: string): void {
    this.holds.end((hold) => scenario === undefined || hold.scenario === scenario);
  }

  windowClosed(scenario: string, rule: string): void {
    this.holds.end((hold) => hold.endless && hold.scenario === scenario && hold.rule === rule);
  }

  /** GetInfo. A kubelet that asks again by itself needs no new socket, and is not to lose the one it looks at. */
  asked(socket: string | undefined): void {
    if (socket === this.options.place.second.file) return;
    this.renewal?.abort();
    this.renewal = undefined;
  }

  /** NotifyRegistrationStatus. */
  notified({ registered, error, socket }: Notice): void {
    const { log, event, place } = this.options;
    // The second socket is there to be refused: nothing is to be done about it.
    const second = socket === place.second.file;
    const details = { ...(socket !== undefined && { socket }), ...(second && { second }) };
    if (registered) {
      event('registered', details);
      log.info(details, 'registered with the kubelet');
      if (second) return;
      this.renewal?.abort();
      this.renewal = undefined;
      this.refusals = 0;
      this.become('registered');
      return;
    }
    const advice = adviceOn(error);
    const retryMs = second ? undefined : this.scheduleRenewal();
    const all = { ...details, error, advice, ...(retryMs !== undefined && { retryMs }) };
    event('registrationRefused', all);
    log.warn(all, `the kubelet refused to register the driver: ${error}; ${advice}`);
    if (!second) this.become('refused', error);
  }

  /** Resolves when the sockets are as they are to be. */
  settled(): Promise<void> {
    return this.changing;
  }

  status(): { state: RegistrationState; since: string; why?: string; socket: string; endpoint: string } {
    const { place, endpoint } = this.options;
    return {
      state: this.state,
      since: new Date(this.since).toISOString(),
      ...(this.why !== undefined && { why: this.why }),
      socket: place.socket.file,
      endpoint,
    };
  }

  private become(state: RegistrationState, why?: string): void {
    this.state = state;
    this.why = why;
    this.since = this.options.clock.now();
  }

  private noticeOldKubelet(bytes: number): void {
    if (!this.running) return;
    this.options.log.warn({ bytes }, OLD_KUBELET);
    if (this.state === 'waiting') this.why = OLD_KUBELET;
  }

  /**
   * A kubelet of 1.36 tries again by itself, one of 1.32 does not (k/k#127108): it looks again when the socket is made
   * anew, which harms neither.
   * @returns milliseconds until that
   */
  private scheduleRenewal(): number | undefined {
    if (this.renewal || !this.running) return undefined;
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** this.refusals, LONGEST_PAUSE_MS);
    this.refusals += 1;
    const renewal = new AbortController();
    this.renewal = renewal;
    void this.options.clock.sleep(ms, renewal.signal).then(
      () => {
        this.renewal = undefined;
        this.enqueue(async () => {
          // What a rule hides is made anew when the rule ends.
          if (this.state !== 'refused' || this.sockets.appearance !== 'serving') return;
          const { why } = this;
          this.withdrawn('refused');
          await this.sockets.renew();
          this.offered(`asked again; before, the kubelet refused: ${why}`);
        });
      },
      () => undefined,
    );
    return ms;
  }

  private failure: Error | undefined;

  private change(): void {
    this.enqueue(async () => {
      const wanted = this.running ? this.holds.appearance : 'absent';
      const before = this.sockets.appearance;
      if (before === 'serving' && wanted !== 'serving')
        this.withdrawn(this.running ? (this.holds.by ?? '') : 'stopping');
      await this.sockets.show(wanted, this.running && this.holds.second);
      if (before !== 'serving' && wanted === 'serving') this.offered();
    });
  }

  private offered(why?: string): void {
    const { place, event, endpoint } = this.options;
    event('registrationOffered', { socket: place.socket.file, endpoint });
    this.become('waiting', why);
  }

  private withdrawn(why: string): void {
    this.options.event('registrationWithdrawn', { socket: this.options.place.socket.file, why });
    this.become('waiting', `the socket was removed: ${why}`);
  }

  private enqueue(change: () => Promise<void>): void {
    const unlessKilled = async () => {
      if (!this.killed) await change();
    };
    this.changing = this.changing.then(unlessKilled).catch((error: unknown) => {
      this.failure ??= error instanceof Error ? error : new Error(String(error));
      const details = { error: String((error as Error)?.message ?? error) };
      this.options.event('registrationFailed', details);
      this.options.log.error(details, 'the registration socket could not be changed');
    });
  }
}
