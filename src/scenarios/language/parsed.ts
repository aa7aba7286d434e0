/** What became of a text: its meaning, or what is wrong with it and from which character on. */
export type Parsed<T> = { readonly value: T } | ParseFailure;

export interface ParseFailure {
  readonly message: string;
  /** Into the text, from 0; absent when it is about all of it. */
  readonly offset?: number | undefined;
}

export function failed<T>(parsed: Parsed<T>): parsed is ParseFailure {
  return 'message' in parsed && !('value' in parsed);
}

export function failure(message: string, offset?: number): ParseFailure {
  return { message, offset };
}
