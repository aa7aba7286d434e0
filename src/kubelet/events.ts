import type { EventDelivery } from './event-delivery';
import { keyOfObject, type ObjectMeta } from './objects';
import type { Component, Timeline } from './timeline/timeline';

/** An event as `kubectl get events` has it: the same thing said again is counted. */
export interface ClusterEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** `Pod default/web-0` */
  readonly object: string;
  readonly source: string;
  readonly message: string;
  count: number;
  /** Milliseconds since the rehearsal began. */
  readonly first: number;
  last: number;
}

export interface EventSource {
  readonly who: Component;
  readonly node?: string;
}

/** What `kubectl describe` would print. */
export class Events {
  private readonly known = new Map<string, ClusterEvent>();

  constructor(
    private readonly timeline: Timeline,
    private readonly delivery: EventDelivery,
  ) {}

  all(): readonly ClusterEvent[] {
    return [...this.known.values()];
  }

  emit(
    source: EventSource,
    object: { readonly kind: string; readonly meta: ObjectMeta },
    type: 'Normal' | 'Warning',
    reason: string,
    text: string,
  ): void {
    const message = this.timeline.clean(text);
    const at = this.timeline.elapsed;
    const about = `${object.kind} ${keyOfObject(object.meta)}`;
    this.delivery.send(source, {
      text: `${about}: ${type} ${reason}: ${message}`,
      at,
      write: (times, last) =>
        this.write(source, object.meta.uid, {
          type,
          reason,
          object: about,
          source: source.who,
          message,
          count: times,
          first: at,
          last,
        }),
    });
  }

  /** Its process ended. */
  lose(source: EventSource): void {
    this.delivery.lose(source);
  }

  private write(source: EventSource, uid: string, event: ClusterEvent): void {
    const { object, type, reason, message, first, last, count } = event;
    const key = [object, uid, type, reason, source.who, source.node, message].join('\n');
    const before = this.known.get(key);
    if (before) {
      before.count += count;
      before.last = last;
    } else this.known.set(key, event);
    const late = this.timeline.elapsed - first < LATE_MS ? '' : lateness(event);
    this.timeline.add({
      ...source,
      kind: 'event',
      about: object,
      text: `${type} ${reason}: ${message}${late}`,
    });
  }
}

/** What takes no longer is a call to the API server. */
const LATE_MS = 500;

/** Of one that arrives after it happened. */
function lateness({ count, first, last }: ClusterEvent): string {
  const moment = (ms: number) => `+${(ms / 1_000).toFixed(3)}s`;
  return count === 1 ? ` (of ${moment(first)})` : ` (${count} times, ${moment(first)} to ${moment(last)})`;
}
