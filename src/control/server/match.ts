import { type RouteName, routes } from '../api/routes';
import { ControlError } from '../error';

export interface Matched {
  readonly name: RouteName;
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>;
}

interface Template {
  readonly path: string;
  readonly pattern: RegExp;
  readonly keys: readonly string[];
  readonly methods: Map<string, RouteName>;
}

/** Finds the route of a method and a path. */
export class Router {
  private readonly templates: readonly Template[];

  constructor() {
    const byPath = new Map<string, Template>();
    for (const [name, { method, path }] of Object.entries(routes)) {
      let template = byPath.get(path);
      if (!template) {
        const keys = [...path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key ?? '');
        const source = path
          .split(/\{\w+\}/)
          .map((text) => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&'))
          .join('([^/]+)');
        template = { path, pattern: new RegExp(`^${source}$`), keys, methods: new Map() };
        byPath.set(path, template);
      }
      template.methods.set(method, name as RouteName);
    }
    // The one that says most: `{name}:arm` also looks like a `{name}`.
    this.templates = [...byPath.values()].sort((a, b) => b.path.length - a.path.length);
  }

  /** @throws ControlError 404 that lists near routes, 405, 400 for a broken escape. */
  match(method: string, path: string): Matched {
    for (const { pattern, keys, methods } of this.templates) {
      const found = pattern.exec(path);
      if (!found) continue;
      const name = methods.get(method === 'HEAD' ? 'GET' : method);
      if (name === undefined) throw new MethodNotAllowed(method, path, [...methods.keys()]);
      return {
        name,
        params: Object.fromEntries(keys.map((key, i) => [key, decode(found[i + 1] ?? '')])),
      };
    }
    throw new ControlError(
      'no-such-route',
      404,
      `no route ${path}; near: ${this.near(path).join(', ')}; all: GET /v1/openapi.json`,
    );
  }

  private near(path: string): string[] {
    const scored = this.templates.map((template) => ({ template, score: commonStart(template.path, path) }));
    const best = Math.max(...scored.map(({ score }) => score));
    return scored
      .filter(({ score }) => score === best)
      .reverse()
      .slice(0, 4)
      .flatMap(({ template }) => [...template.methods.keys()].map((method) => `${method} ${template.path}`));
  }
}

export class MethodNotAllowed extends ControlError {
  constructor(
    method: string,
    path: string,
    readonly allowed: readonly string[],
  ) {
    super('method-not-allowed', 405, `expected ${allowed.join(' or ')} for ${path}, found ${method}`);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ControlError('invalid-request', 400, `expected a percent-encoded name, found ${text}`);
  }
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
