import { Composer, type Document, Lexer, LineCounter, type ParsedNode, Parser, type YAMLError } from 'yaml';

/** Deeper than any scenario, and far from what the stack holds. */
const MAX_DEPTH = 64;
/** Words and signs of YAML; a scenario of a thousand rules has some 30,000. */
const MAX_LEXEMES = 150_000;
const MAX_DOCUMENTS = 200;

export interface YamlProblem {
  readonly message: string;
  /** Into the text. */
  readonly offset: number;
}

export interface YamlText {
  readonly documents: readonly Document.Parsed<ParsedNode>[];
  readonly problems: readonly YamlProblem[];
  readonly lines: LineCounter;
}

/**
 * The documents of a text, hostile or not. Depth and size are watched while the words come in: what composes them
 * recurses, and takes seconds for a megabyte.
 */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const binary = /[^\P{Cc}\t\r\n]|\ufffd/u.exec(text);
  if (binary) {
    for (const { index } of text.slice(0, binary.index).matchAll(/\n/g)) lines.addNewLine(index + 1);
    const problem = { message: 'expected YAML, found binary data', offset: binary.index };
    return { documents: [], problems: [problem], lines };
  }
  const tokens = tokensOf(text, lines);
  if (!Array.isArray(tokens)) return { documents: [], problems: [tokens as YamlProblem], lines };
  const documents: Document.Parsed<ParsedNode>[] = [];
  // Looking for duplicate keys costs the composer the square of their number: plain.ts does it.
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, strict: true });
  for (const document of composer.compose(tokens, true, text.length)) {
    if (documents.length >= MAX_DOCUMENTS) {
      const message = `expected at most ${MAX_DOCUMENTS} documents in a file`;
      return { documents: [], problems: [{ message, offset: document.range[0] }], lines };
    }
    documents.push(document as Document.Parsed<ParsedNode>);
  }
  // What follows a mistake in the syntax is mostly said because of it.
  const problems = documents.flatMap(({ errors, warnings }) =>
    [...errors.slice(0, 1), ...warnings].map(explain),
  );
  return { documents, problems, lines };
}

function tokensOf(text: string, lines: LineCounter) {
  const parser = new Parser(lines.addNewLine);
  const tokens = [];
  let lexemes = 0;
  // What holds a depth on the parser's stack: the document, and a collection with its value for each level.
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    const depth = parser.stack.filter(({ type }) =>
      /^(block-map|block-seq|flow-collection)$/.test(type),
    ).length;
    if (depth > MAX_DEPTH)
      return {
        message: `nested deeper than ${MAX_DEPTH} levels`,
        offset: parser.offset,
      } satisfies YamlProblem;
    if (++lexemes > MAX_LEXEMES)
      return {
        message: 'too much for one scenario file: split it',
        offset: parser.offset,
      } satisfies YamlProblem;
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/** The parser's own words for the mistakes that people make most do not say what to do. */
function explain({ code, message, pos }: YAMLError): YamlProblem {
  const offset = pos[0];
  switch (code) {
    case 'TAB_AS_INDENT':
      return { message: 'YAML: a tab indents this line; YAML allows only spaces', offset };
    case 'TAG_RESOLVE_FAILED':
      return {
        message: `YAML: ${message.replace(/^Unresolved tag: /, '')} is a tag; write a text that begins with ! in quotes`,
        offset,
      };
    case 'BLOCK_AS_IMPLICIT_KEY':
      return { message: 'YAML: a second ": " in one value; write a text with ": " in quotes', offset };
    case 'MISSING_CHAR':
      return {
        message: message.includes('quote') ? 'YAML: a quote that is not closed' : `YAML: ${lowered(message)}`,
        offset,
      };
    default:
      return { message: `YAML: ${lowered(message)}`, offset };
  }
}

const lowered = (message: string): string => {
  const line = message.split('\n')[0] ?? '';
  return line.charAt(0).toLowerCase() + line.slice(1);
};
