import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
} from 'yaml';
import { quote } from './show';
import type { YamlProblem } from './yaml-text';

/** Every alias counts what it stands for: a few lines of them can mean billions of values. */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 64;

/** Where each value of a document was written, for messages. */
export interface Source {
  /** Of the value itself; undefined for nothing at all, as after `key:`. */
  readonly node: Node | undefined;
  /** Of its key, for a value in a map. */
  readonly key: Node | undefined;
  readonly entries: ReadonlyMap<string | number, Source>;
}

export interface PlainDocument {
  /** Undefined when there is too much of it. */
  readonly value: unknown;
  readonly source: Source;
  readonly problems: readonly YamlProblem[];
}

/**
 * A document as JSON data: maps without a prototype, so that no key means anything to the language underneath, and a
 * second tree that says where each value came from.
 */
export function plainOf(document: Document.Parsed<ParsedNode>): PlainDocument {
  const problems: YamlProblem[] = [];
  let values = 0;
  let exploded = false;
  // An alias means the last anchor of its name before it, also when it is met again below another alias.
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const refuse = (message: string, node: Node | undefined): void => {
    problems.push({ message, offset: node?.range?.[0] ?? document.range[0] });
  };

  const convert = (
    node: unknown,
    key: Node | undefined,
    depth: number,
  ): { value: unknown; source: Source } => {
    const here = node as Node | null | undefined;
    const leaf = (value: unknown) => ({
      value,
      source: { node: here ?? undefined, key, entries: new Map() },
    });
    if (exploded) return leaf(null);
    if (++values > MAX_VALUES || depth > MAX_DEPTH) {
      exploded = true;
      refuse(
        depth > MAX_DEPTH ? `nested deeper than ${MAX_DEPTH} levels` : 'aliases that stand for too much',
        here ?? key,
      );
      return leaf(null);
    }
    if (isAlias(here)) {
      const target = targets.get(here) ?? anchors.get(here.source);
      if (target === undefined) {
        refuse(
          `YAML: *${here.source} stands for no &${here.source}; write a text that begins with * in quotes`,
          here,
        );
        return leaf(`*${here.source}`);
      }
      targets.set(here, target);
      // What is wrong inside of it is shown where it was written.
      return convert(target, key, depth + 1);
    }
    if (isAnchored(here) && here.anchor !== undefined) anchors.set(here.anchor, here);
    if (isScalar(here)) return leaf(scalar(here.value, here.source));
    if (isSeq(here)) {
      const entries = new Map<number, Source>();
      const value = here.items.map((item, index) => {
        const made = convert(item, undefined, depth + 1);
        entries.set(index, made.source);
        return made.value;
      });
      return { value, source: { node: here, key, entries } };
    }
    if (!isMap(here)) return leaf(null);
    const value: Record<string, unknown> = Object.create(null);
    const entries = new Map<string, Source>();
    for (const pair of here.items) {
      const keyNode = pair.key as Node | null;
      if (!isScalar(keyNode)) {
        refuse('expected a name as the key of a map', keyNode ?? here);
        continue;
      }
      const name = String(keyNode.source ?? keyNode.value);
      if (entries.has(name)) refuse(`the key ${quote(name)} is there twice`, keyNode);
      else if (name === '__proto__') refuse('"__proto__" cannot be a key', keyNode);
      else {
        const made = convert(pair.value, keyNode, depth + 1);
        entries.set(name, made.source);
        value[name] = made.value;
      }
    }
    return { value, source: { node: here, key, entries } };
  };

  const { value, source } = convert(document.contents, undefined, 0);
  return { value: exploded ? undefined : value, source, problems };
}

const isAnchored = (node: unknown): node is Exclude<Node, Alias> => isNode(node) && !isAlias(node);

/** A number that would lose digits stays the text it was written as: int64 fields take it so. */
function scalar(value: unknown, source: string | undefined): unknown {
  if (typeof value === 'bigint') return value.toString();
  const lossy = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return lossy && source !== undefined && /^[-+]?\d+$/.test(source) ? source.replace(/^\+/, '') : value;
}
