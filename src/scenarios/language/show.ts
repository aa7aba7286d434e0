const MAX_SHOWN = 60;

/** A value as the end of "expected …, found …": short, on one line. */
export function show(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'an empty map' : 'a map';
  return String(value);
}

export function quote(text: string): string {
  return JSON.stringify(cut(text));
}

export function cut(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

export function oneOf(names: Iterable<string>): string {
  const all = [...names];
  if (all.length <= 1) return all.join('');
  return `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
}
