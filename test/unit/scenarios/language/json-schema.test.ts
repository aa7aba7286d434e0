import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { jsonSchema } from '../../../../src/scenarios/language';
import { shipped } from './shipped';

const file = path.join(__dirname, '../../../../scenarios/schema.json');

describe('the JSON Schema of scenario files', () => {
  it('is checked in as the language is now (npm run generate:schema)', () => {
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(jsonSchema())));
  });

  const schema = z.fromJSONSchema(jsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);

  it.each(shipped.map(({ name, text }) => [name, text]))('holds for %s', (_name, text) => {
    expect(schema.safeParse(parse(text)).error?.issues).toBeUndefined();
  });

  it('offers the names there are, and refuses keys there are not', () => {
    const [first] = shipped;
    const document = parse(first?.text ?? '');
    document.spec.rules[0].tims = 2;
    expect(schema.safeParse(document).success).toBe(false);
    expect(JSON.stringify(jsonSchema())).toContain('"NodeStageVolume"');
  });
});
