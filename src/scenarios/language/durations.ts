import { failure, type Parsed } from './parsed';
import { quote } from './show';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** What a timer of the runtime can count (2^31 ms), rounded down to whole days. */
const MAX_MS = 24 * 24 * 3_600_000;

/** Milliseconds from `500ms`, `5s`, `2m`, `1h`, or several, larger units first: `1m30s`. */
export function parseDuration(text: string): Parsed<number> {
  const parts = /^(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?$/.exec(text);
  if (parts === null || text === '') return failure(`expected a duration such as 5s, found ${quote(text)}`);
  const ms = ['h', 'm', 's', 'ms'].reduce(
    (sum, unit, index) => sum + Number(parts[index + 1] ?? 0) * (UNIT_MS[unit] ?? 0),
    0,
  );
  if (ms > MAX_MS) return failure(`expected a duration of at most 576h, found ${quote(text)}`);
  return { value: ms };
}

/** The shortest text that parseDuration reads as `ms`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  let left = ms;
  let text = '';
  for (const unit of ['h', 'm', 's', 'ms']) {
    const size = UNIT_MS[unit] ?? 1;
    const whole = Math.floor(left / size);
    if (whole > 0) text += `${whole}${unit}`;
    left -= whole * size;
  }
  return text;
}
