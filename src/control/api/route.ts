import type { z } from 'zod';

/** A format beside the JSON of `reply`, chosen by a key of the query or by the Accept header. */
export interface OtherFormat {
  readonly type: string;
  readonly about: string;
}

/** One thing the API does. Types, validation, OpenAPI and the client follow from it. */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** With `{name}` for each key of `params`; a value is percent-encoded. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Text in YAML is taken too, as `{text}`. */
  readonly yaml?: true;
  /** Nothing in the body is the same as `{}`. */
  readonly bodyOptional?: true;
  /** Undefined: no JSON, only `formats`. */
  readonly reply?: z.ZodType;
  readonly formats?: readonly OtherFormat[];
  /** Statuses of problems that are the route's own. */
  readonly problems?: readonly number[];
}

type In<S> = S extends z.ZodType ? z.input<S> : Record<never, never>;
type Out<S> = S extends z.ZodType ? z.output<S> : Record<never, never>;
type Field<R, K extends string> = R extends { readonly [P in K]: infer S } ? S : undefined;

/** What a handler gets. */
export interface Asked<R extends Route> {
  readonly params: Out<Field<R, 'params'>>;
  readonly query: Out<Field<R, 'query'>>;
  readonly body: Out<Field<R, 'body'>>;
}

/** What a client says. */
export interface Asking<R extends Route> {
  readonly params: In<Field<R, 'params'>>;
  readonly query: In<Field<R, 'query'>>;
  readonly body: In<Field<R, 'body'>>;
}

export type ReplyOf<R extends Route> = Out<Field<R, 'reply'>>;
