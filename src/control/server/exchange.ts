import type { Asked, ReplyOf } from '../api/route';
import type { RouteName, Routes } from '../api/routes';
import type { Context } from './context';

/** A reply that is not JSON. */
export class TextReply {
  constructor(
    readonly type: string,
    readonly text: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** A reply that goes on. The head is sent when `open` is called, or with the first part. */
export class StreamReply {
  constructor(
    readonly type: string,
    readonly parts: (open: () => void, signal: AbortSignal) => AsyncIterable<string>,
    /** Sent when nothing else was for a while, so that a connection that died is noticed. */
    readonly heartbeat: string,
  ) {}
}

/** What a handler may know of the request beyond its values. */
export interface Exchange {
  readonly accept: string;
  /** Aborts when the client leaves or the server stops. */
  readonly signal: AbortSignal;
}

export type Handler<K extends RouteName> = (
  asked: Asked<Routes[K]>,
  context: Context,
  exchange: Exchange,
) => Answer<K> | Promise<Answer<K>>;

type Answer<K extends RouteName> = ReplyOf<Routes[K]> | TextReply | StreamReply;

export type Handlers = { readonly [K in RouteName]: Handler<K> };
