import { parse } from 'yaml';
import { type Fields, isFields, type KubernetesObject } from './objects';

/** Lists that are merged item by item, and the field that tells their items apart (patchMergeKey of the API's types). */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  containers: 'name',
  env: 'name',
  ports: 'containerPort',
  volumeMounts: 'mountPath',
  volumes: 'name',
};

/**
 * A strategic merge, as kustomize does it: a list has the patch's items first, in the patch's order.
 * @throws Error for what it does not know; `where` names the patch.
 */
export function merge(into: Fields, patch: Fields, where: string): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || key.startsWith('$'))
      throw new Error(`${where}: ${key}: expected a patch that adds or changes, found one that removes`);
    const before = into[key];
    if (isFields(value) && isFields(before)) merge(before, value, where);
    else if (Array.isArray(value) && Array.isArray(before) && value.some(isFields))
      into[key] = mergeItems(before as Fields[], value as Fields[], key, where);
    else into[key] = structuredClone(value);
  }
}

function mergeItems(before: Fields[], items: readonly Fields[], key: string, where: string): Fields[] {
  const mergeKey = MERGE_KEYS[key];
  if (mergeKey === undefined)
    throw new Error(
      `${where}: ${key}: expected one of the lists ${Object.keys(MERGE_KEYS).join(', ')}, whose items can be told apart`,
    );
  const merged = items.map((item) => {
    const same = before.find((one) => one[mergeKey] === item[mergeKey]);
    if (!same) return structuredClone(item);
    merge(same, item, where);
    return same;
  });
  return [...merged, ...before.filter((one) => !merged.includes(one))];
}

/** The operations of RFC 6902 that deploy/ uses: `replace` of a field that is there, `add` at the end of a list. */
export function applyOperations(object: KubernetesObject, text: string, where: string): void {
  const operations: unknown = parse(text);
  if (!Array.isArray(operations))
    throw new Error(`${where}: expected a list of operations (RFC 6902), found ${typeof operations}`);
  for (const operation of operations as { op?: string; path?: string; value?: unknown }[]) {
    const { op, path = '', value } = operation;
    const steps = path.split('/').slice(1);
    const last = steps.pop() ?? '';
    let place: unknown = object;
    for (const step of steps)
      place = isFields(place) || Array.isArray(place) ? (place as Fields)[step] : undefined;
    if (op === 'replace' && isFields(place) && last in place) place[last] = value;
    else if (op === 'add' && Array.isArray(place) && last === '-') place.push(value);
    else
      throw new Error(
        `${where}: ${op} ${path}: expected replace of a field that is there, or add to the end (/-) of a list that is there`,
      );
  }
}
