import { SERVICE_ACCOUNT_TOKENS } from '../../csi/context-keys';
import { type Check, invalid, quote } from './check';
import { utf8Bytes } from './text';

type StringMap = { [key: string]: string };

/** Size Limits of the specification: a whole map. What to count is left open; we count keys and values in UTF-8. */
const MAP_LIMIT = 4096;

export const stringMap: Check<StringMap> = (map, at) => {
  limited(map, at);
};

/**
 * volume_context comes back with what the CO adds. Service-account tokens are not counted: the driver asked the
 * kubelet for them in its CSIDriver object, and a few audiences alone may pass 4 KiB.
 */
export const volumeContext: Check<StringMap> = (map, at, config) => {
  if (config.strictLimits !== false) limited(map, at, SERVICE_ACCOUNT_TOKENS);
};

/**
 * Keys of letters, digits, `-`, `_` and `.`. The kubelet (from 1.35, serviceAccountTokenInSecrets) breaks this rule
 * and may break the limit with one well-known key, which no driver could refuse and still be used.
 */
export const secrets: Check<StringMap> = (map, at) => {
  for (const key of Object.keys(map)) {
    if (!/^[A-Za-z0-9._-]+$/.test(key) && key !== SERVICE_ACCOUNT_TOKENS) {
      throw invalid(at, "keys of letters, digits, '-', '_' and '.'", `key ${quote(key)}`);
    }
  }
  limited(map, at, SERVICE_ACCOUNT_TOKENS);
};

function limited(map: StringMap, at: string, uncounted?: string): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(map)) {
    if (key !== uncounted) bytes += utf8Bytes(key) + utf8Bytes(value);
  }
  if (bytes > MAP_LIMIT) {
    throw invalid(at, `at most ${MAP_LIMIT} bytes of keys and values`, `${bytes} bytes`);
  }
}
