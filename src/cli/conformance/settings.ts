import { readFileSync } from 'node:fs';
import type { Case } from '../../conformance/case';
import type { Hints, Strings } from '../../conformance/hints';
import { UsageError } from '../command';

export interface Selection {
  readonly case: readonly string[];
  readonly skip: readonly string[];
  readonly rpc: readonly string[];
  readonly level: readonly string[];
}

/** Those that are asked for; all where nothing is. @throws UsageError when a word selects nothing */
export function selectCases(
  all: readonly Case[],
  { case: ids, skip, rpc, level }: Selection,
): readonly Case[] {
  const has = (some: readonly string[], id: string) =>
    some.some((one) => one.toLowerCase() === id.toLowerCase());
  const isOf = (one: Case, word: string) =>
    [one.rpc, ...one.rpc.split('.')].some((part) => part.toLowerCase() === word.toLowerCase());
  const known = all.map(({ id }) => id);
  for (const [option, named] of [
    ['--case', ids],
    ['--skip', skip],
  ] as const)
    for (const id of named)
      if (!has(known, id)) throw new UsageError(`${option} ${id}: no case of this id; --list shows them all`);
  for (const word of rpc)
    if (!all.some((one) => isOf(one, word)))
      throw new UsageError(`--rpc ${word}: no case of this RPC or service; --list shows them all`);
  return all.filter(
    (one) =>
      (ids.length === 0 || has(ids, one.id)) &&
      !has(skip, one.id) &&
      (rpc.length === 0 || rpc.some((word) => isOf(one, word))) &&
      (level.length === 0 || level.includes(one.level)),
  );
}

/** @throws UsageError */
export function keyValues(option: string, words: readonly string[]): Strings {
  return Object.fromEntries(
    words.map((word) => {
      const equals = word.indexOf('=');
      if (equals <= 0) throw new UsageError(`${option}: expected key=value, found ${JSON.stringify(word)}`);
      return [word.slice(0, equals), word.slice(equals + 1)];
    }),
  );
}

/** A file of hints in YAML or JSON, or `fake-csi` for those of our own driver. @throws Error with one line */
export function hintsFrom(file: string | undefined): Hints {
  if (file === undefined) return {};
  if (file === 'fake-csi')
    return (require('../../conformance/own-hints') as typeof import('../../conformance/own-hints')).ownHints;
  const { checkHints } = require('../../conformance/hints') as typeof import('../../conformance/hints');
  return checkHints(mapFrom('--hints', file), `--hints ${file}`);
}

/** @throws Error with one line */
export function secretsFrom(file: string): Strings {
  const { checkHints } = require('../../conformance/hints') as typeof import('../../conformance/hints');
  return checkHints({ secrets: mapFrom('--secrets', file) }, `--secrets ${file}`).secrets ?? {};
}

function mapFrom(option: string, file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${option} ${file}: expected a file that can be read (${code})`);
  }
  const { parse } = require('yaml') as typeof import('yaml');
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`${option} ${file}: expected YAML or JSON: ${(error as Error).message.split('\n')[0]}`);
  }
}
