import type { Clock } from '../util/clock';
import type { ApiServer } from './api-server';
import type { EventSource } from './events';
import type { Seeded } from './seeded';
import type { Timeline } from './timeline/timeline';

export interface EventDeliveryOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly seeded: Seeded;
  readonly signal: AbortSignal;
}

/** client-go's recorder: the first pause is a part of the others, so that not everybody comes back at once. */
const MAX_TRIES = 12;
const PAUSE_MS = 10_000;
const PATH = '/api/v1/namespaces/default/events';

/** An event on its way. */
export interface Sent {
  /** Of what, and what it says. */
  readonly text: string;
  /** Milliseconds since the rehearsal began. */
  readonly at: number;
  /** It has arrived, for itself and for those that say the same and waited behind it, the last of them of `last`. */
  write(times: number, last: number): void;
}

/**
 * How events of one component get to the API server: one after another, each tried twelve times in up to two minutes and
 * then dropped. Those behind it wait.
 */
export class EventDelivery {
  private readonly queues = new Map<string, Sent[]>();
  private sent = 0;

  constructor(private readonly options: EventDeliveryOptions) {}

  send(source: EventSource, event: Sent): void {
    const key = keyOf(source);
    const queue = this.queues.get(key);
    if (queue) queue.push(event);
    else if (this.options.api.isDown) {
      const begun = [event];
      this.queues.set(key, begun);
      void this.drain(source, begun);
    } else event.write(1, event.at);
  }

  /** Its process ended, and what it had not delivered with it. */
  lose(source: EventSource): void {
    const queue = this.queues.get(keyOf(source));
    this.queues.delete(keyOf(source));
    if (queue) queue.length = 0;
  }

  private async drain(source: EventSource, queue: Sent[]): Promise<void> {
    for (let event = queue[0]; event; event = queue[0]) {
      await this.deliver(source, event, queue).catch(() => undefined);
      if (this.options.signal.aborted) return;
    }
    if (this.queues.get(keyOf(source)) === queue) this.queues.delete(keyOf(source));
  }

  private async deliver(source: EventSource, event: Sent, queue: Sent[]): Promise<void> {
    const { api, clock, timeline, seeded, signal } = this.options;
    this.sent += 1;
    const first = PAUSE_MS * seeded.fraction(`event ${keyOf(source)} ${this.sent}`);
    for (let tries = 1; queue[0] === event; tries++) {
      const failure = api.failureOf('Post', PATH);
      if (failure === undefined) {
        const same = queue.filter(({ text }) => text === event.text);
        queue.splice(0, queue.length, ...queue.filter((other) => !same.includes(other)));
        return event.write(same.length, same.at(-1)?.at ?? event.at);
      }
      if (tries >= MAX_TRIES) {
        timeline.log({ ...source, text: `Unable to write event (retry limit exceeded!): ${event.text}` });
        queue.shift();
        return;
      }
      timeline.log({ ...source, text: `Unable to write event (may retry after sleeping): ${failure}` });
      await clock.sleep(tries === 1 ? Math.round(first) : PAUSE_MS, signal);
    }
  }
}

function keyOf({ who, node }: EventSource): string {
  return node === undefined ? who : `${who} ${node}`;
}
