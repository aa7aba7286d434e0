import { z } from 'zod';
import { wholeDocument } from './schema/document';

/** The JSON Schema of a scenario file, for editors: `# yaml-language-server: $schema=./schema.json`. */
export function jsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(wholeDocument, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    reused: 'ref',
    override: ({ jsonSchema: made }) => {
      // Names to choose from, beside the patterns that are allowed as well.
      const { names, ...rest } = made as { names?: readonly string[] };
      if (names === undefined) return;
      for (const key of Object.keys(made)) delete (made as Record<string, unknown>)[key];
      Object.assign(made, {
        description: (rest as { description?: string }).description,
        anyOf: [{ enum: names }, rest],
      });
    },
  }) as Record<string, unknown>;
  return { title: 'fake-csi scenario', ...schema };
}
