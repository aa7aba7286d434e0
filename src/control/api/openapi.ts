import { z } from 'zod';
import * as models from './models';
import type { Route } from './route';
import { routes } from './routes';

const SCHEMAS = '#/components/schemas/';
const STATUS: Readonly<Record<number, string>> = {
  400: 'The request is not as described',
  404: 'There is no such thing',
  409: 'What is there does not allow it',
  422: 'The text is no scenario, rule or expectation; `errors` has every problem with its place',
};

/** The API in OpenAPI 3.1, made of the route table alone. */
export function openApi(): Record<string, unknown> {
  const registry = z.registry<{ id: string }>();
  const names = new Map<z.ZodType, string>();
  for (const [id, schema] of Object.entries(models)) {
    registry.add(schema, { id });
    names.set(schema, id);
  }
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `${SCHEMAS}${id}`, io: 'input' });
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [operationId, route] of Object.entries<Route>(routes)) {
    const own = paths[route.path] ?? {};
    own[route.method.toLowerCase()] = operation(operationId, route, names);
    paths[route.path] = own;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'fake-csi control API',
      version: '1',
      description:
        'Spoken on the Unix socket <data-dir>/control/control.sock and, where asked for, on loopback with a bearer token.',
    },
    servers: [{ url: 'http://localhost' }],
    security: [{}, { token: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, plain(schema)])),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operation(operationId: string, route: Route, names: ReadonlyMap<z.ZodType, string>): object {
  const { summary, params, query, body, yaml, bodyOptional, reply, formats = [], problems = [] } = route;
  const schemaOf = (schema: z.ZodType) => {
    const name = names.get(schema);
    return name === undefined
      ? plain(z.toJSONSchema(schema, { io: 'input' }))
      : { $ref: `${SCHEMAS}${name}` };
  };
  const text = { schema: { type: 'string' } };
  return {
    operationId,
    summary,
    parameters: [...parameters(params, 'path'), ...parameters(query, 'query')],
    ...(body && {
      requestBody: {
        required: bodyOptional !== true,
        content: {
          'application/json': { schema: schemaOf(body) },
          ...(yaml && { 'text/yaml': text }),
        },
      },
    }),
    responses: {
      200: {
        description: ['Done', ...formats.map(({ type, about }) => `${type} (${about})`)].join('; '),
        content: {
          ...(reply && { 'application/json': { schema: schemaOf(reply) } }),
          ...Object.fromEntries(formats.map(({ type }) => [type, text])),
        },
      },
      ...Object.fromEntries([400, ...problems].map((status) => [status, problem(STATUS[status] ?? '')])),
      default: problem('Refused or failed'),
    },
  };
}

function problem(description: string): object {
  return {
    description,
    content: { 'application/problem+json': { schema: { $ref: `${SCHEMAS}ProblemReply` } } },
  };
}

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query'): object[] {
  return Object.entries(schema?.shape ?? {}).map(([name, one]) => {
    const { description, ...rest } = plain(z.toJSONSchema(one as z.ZodType, { io: 'input' }));
    return {
      name,
      in: place,
      required: place === 'path',
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

/** Without the keys that stand once for the whole document. */
function plain(schema: object): Record<string, unknown> {
  const { $schema: _, $id: __, ...rest } = schema as Record<string, unknown>;
  return rest;
}
