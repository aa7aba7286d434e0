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

  constructor(private readonly timeline: Timeline) {}

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
    const about = `${object.kind} ${keyOfObject(object.meta)}`;
    const key = [about, object.meta.uid, type, reason, source.who, source.node, message].join('\n');
    const now = this.timeline.elapsed;
    const before = this.known.get(key);
    if (before) {
      before.count += 1;
      before.last = now;
    } else {
      const { who } = source;
      this.known.set(key, {
        type,
        reason,
        object: about,
        source: who,
        message,
        count: 1,
        first: now,
        last: now,
      });
    }
    this.timeline.add({ ...source, kind: 'event', about, text: `${type} ${reason}: ${message}` });
  }
}
