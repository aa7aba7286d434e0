import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { openApi } from '../../../src/control/api/openapi';
import { routes } from '../../../src/control/api/routes';
import { type Controlled, raw, startControlled } from './support';

const docs = path.join(__dirname, '../../../docs');

interface Described {
  openapi: string;
  paths: Record<string, Record<string, { operationId: string; parameters: { name: string; in: string }[] }>>;
  components: { schemas: Record<string, unknown> };
}

describe('the OpenAPI document', () => {
  const document = JSON.parse(JSON.stringify(openApi())) as Described;

  it('is checked in as the routes are now (node scripts/generate-openapi.cjs)', () => {
    expect(JSON.parse(readFileSync(path.join(docs, 'openapi.json'), 'utf8'))).toEqual(document);
  });

  it('has every route once, with every part of its path', () => {
    const operations = Object.entries(document.paths).flatMap(([place, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ place, method, ...operation })),
    );
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(routes).sort());
    for (const { place, parameters } of operations)
      expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(
        [...place.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      );
  });

  it('names no schema that it does not have', () => {
    const wanted = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '');
    expect(wanted.length).toBeGreaterThan(50);
    for (const ref of new Set(wanted)) {
      const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec(ref) ?? [];
      expect(Object.keys(document.components.schemas)).toContain(name);
    }
  });

  it('is told in docs/control.md, route by route', () => {
    const text = readFileSync(path.join(docs, 'control.md'), 'utf8');
    for (const { method, path: place } of Object.values(routes))
      expect(text).toContain(`\`${method} ${place}\``);
  });

  describe('of a driver', () => {
    let it_: Controlled;
    beforeAll(async () => {
      it_ = await startControlled();
    });
    afterAll(() => it_.close());

    it('is served', async () => {
      const answer = await raw({ socketPath: it_.server.socket ?? '' }, { path: '/v1/openapi.json' });
      expect(answer.json()).toEqual(document);
    });
  });
});
