import { schemaMessages } from '../csi/gen/schema';
import { type ClientRequestOf, type CsiMethod, rpcs } from '../csi/rpcs';
import type { CodeName } from '../csi/status';
import { type Answer, answerText, callText, type ResponseTo } from './answer';
import { Failure, NotApplicable } from './case';
import type { Connection, SendOptions } from './connection';
import { type Facts, hasCapability, missingFor } from './facts';
import type { Hints } from './hints';
import { Ledger } from './ledger';

/** Codes that no refusal can have: they say that nobody answered, or that the driver does not know what happened. */
const NO_ANSWER: ReadonlySet<string> = new Set(['DEADLINE_EXCEEDED', 'UNAVAILABLE', 'CANCELLED']);

export interface CallSetting {
  readonly connection: Connection;
  readonly facts: Facts;
  readonly hints: Hints;
  /** For every call. */
  readonly timeoutMs: number;
  /** Section of the specification that the case is about. */
  readonly section: string;
}

export type Refusals = CodeName | readonly CodeName[] | 'any refusal';

/** Calls of a driver, with what the specification expects of their answers. */
export class Calls {
  protected readonly ledger = new Ledger();
  private lastCall = '';
  private lastCode = '';

  constructor(private readonly setting: CallSetting) {}

  get facts(): Facts {
    return this.setting.facts;
  }

  get hints(): Hints {
    return this.setting.hints;
  }

  /** Whether the newest call found nobody there. */
  get isDriverGone(): boolean {
    return this.lastCode === 'UNAVAILABLE';
  }

  /** `controller.LIST_VOLUMES`. */
  has(capability: string): boolean {
    return hasCapability(this.facts, capability);
  }

  /** Whether the driver serves a method, by what it advertises. */
  serves(method: CsiMethod): boolean {
    return missingFor(method, this.facts) === undefined;
  }

  /** Whatever is answered, also by a method that the driver does not advertise. */
  async send<M extends CsiMethod>(
    method: M,
    request: ClientRequestOf<M>,
    options: Omit<SendOptions, 'timeoutMs'> = {},
  ): Promise<Answer<M>> {
    const { connection, timeoutMs, hints } = this.setting;
    const takesSecrets = schemaMessages[rpcs[method].requestType]?.fields.secrets !== undefined;
    const complete = takesSecrets && hints.secrets ? { secrets: hints.secrets, ...request } : request;
    this.lastCall = callText(method, complete);
    const answer = await connection.send(method, complete, { timeoutMs, ...options });
    this.lastCode = answer.code;
    this.ledger.note(answer as Answer);
    return answer;
  }

  /** Whatever is answered. @throws NotApplicable for a method that the driver does not advertise */
  async call<M extends CsiMethod>(method: M, request: ClientRequestOf<M>): Promise<Answer<M>> {
    const missing = missingFor(method, this.facts);
    if (missing !== undefined) throw new NotApplicable(missing);
    return this.send(method, request);
  }

  /** The answer to a call that has to be OK. */
  async ok<M extends CsiMethod>(
    method: M,
    request: ClientRequestOf<M>,
    because = '',
  ): Promise<ResponseTo<M>> {
    const answer = await this.call(method, request);
    if (answer.code !== 'OK' || answer.response === undefined)
      throw this.failure(`OK${because && `: ${because}`}`, answerText(answer), method, request);
    return answer.response;
  }

  /** The answer to a call that has to be refused, with one of the codes. */
  async refused<M extends CsiMethod>(
    method: M,
    request: ClientRequestOf<M>,
    codes: Refusals,
    because = '',
  ): Promise<Answer<M>> {
    const answer = await this.call(method, request);
    this.isRefused(answer, codes, because);
    return answer;
  }

  isRefused(answer: Answer, codes: Refusals, because = ''): void {
    const wanted = codes === 'any refusal' ? undefined : [codes].flat();
    const fits = wanted
      ? (wanted as readonly string[]).includes(answer.code)
      : answer.code !== 'OK' && !NO_ANSWER.has(answer.code);
    if (fits) return;
    const expected = `${wanted?.join(' or ') ?? 'a refusal'}${because && `: ${because}`}`;
    throw this.failure(expected, answerText(answer), answer.method, answer.request);
  }

  /** @param found what was found, for a person. The newest call is told with it. */
  that(holds: boolean, expected: string, found: unknown): void {
    if (!holds) throw this.failure(expected, typeof found === 'string' ? found : JSON.stringify(found));
  }

  same(found: unknown, wanted: unknown, what: string): void {
    const [is, should] = [ordered(found), ordered(wanted)];
    this.that(is === should, `${what} ${should}`, is);
  }

  /** @throws NotApplicable */
  skip(reason: string): never {
    throw new NotApplicable(reason);
  }

  failure(expected: string, found: string, method?: CsiMethod, request: object = {}): Failure {
    const called = method === undefined ? this.lastCall : callText(method, request);
    return new Failure(called, `${expected} (CSI 1.12, ${this.setting.section})`, found);
  }
}

/** JSON with the keys of maps in one order: on the wire they have none. */
function ordered(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
