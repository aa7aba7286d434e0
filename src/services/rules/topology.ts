import type { Topology__Output } from '../../csi/gen/csi/v1/Topology';
import type { TopologyRequirement__Output } from '../../csi/gen/csi/v1/TopologyRequirement';
import { type Check, each, invalid, message, quote } from './check';
import { stringMap } from './maps';

/** Of a key's name, of its prefix and of a value; all of them are ASCII, so characters are bytes. */
const PART_LIMIT = 63;
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

type Segments = Topology__Output['segments'];

const segments: Check<Segments> = (map, at, config) => {
  stringMap(map, at, config);
  checkSegments(map, at);
};

/**
 * The format of one place's segments, in requests and in what this plugin tells of itself.
 * @throws CsiError INVALID_ARGUMENT
 */
export function checkSegments(map: Segments, at: string): void {
  const seen = new Set<string>();
  for (const [key, value] of Object.entries(map)) {
    topologyKey(key, at);
    const folded = key.toLowerCase();
    if (seen.has(folded)) throw invalid(at, 'keys that differ in more than case', `${quote(key)} again`);
    seen.add(folded);
    if (value.length > PART_LIMIT || !NAME.test(value)) {
      throw invalid(`${at}[${quote(key)}]`, nameFormat, quote(value));
    }
  }
}

const nameFormat = `1 to ${PART_LIMIT} letters, digits, '-', '_' and '.', a letter or digit first and last`;

function topologyKey(key: string, at: string): void {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (slash >= 0) {
    const prefix = key.slice(0, slash);
    if (prefix.length > PART_LIMIT || !DOMAIN.test(prefix)) {
      const expected = `key prefixes that are lower-case domain names of at most ${PART_LIMIT} bytes`;
      throw invalid(at, expected, `key ${quote(key)}`);
    }
  }
  if (name.length > PART_LIMIT || !NAME.test(name)) {
    throw invalid(at, `key names of ${nameFormat}`, `key ${quote(key)}`);
  }
}

export const topology = message<Topology__Output>({ segments });

const topologies = each(topology);

export const topologyRequirement: Check<TopologyRequirement__Output> = (requirement, at, config) => {
  const { requisite, preferred } = requirement;
  if (requisite.length === 0 && preferred.length === 0) {
    throw invalid(at, 'requisite or preferred to hold a topology', 'both empty');
  }
  topologies(requisite, `${at}.requisite`, config);
  topologies(preferred, `${at}.preferred`, config);
  if (requisite.length === 0) return;
  const allowed = new Set(requisite.map(canonical));
  const stray = preferred.findIndex((one) => !allowed.has(canonical(one)));
  if (stray >= 0) {
    throw invalid(`${at}.preferred[${stray}]`, 'one of the topologies in requisite', 'another one');
  }
};

/** Keys are compared without regard to case. */
function canonical(one: Topology__Output): string {
  const pairs = Object.entries(one.segments).map(([key, value]) => [key.toLowerCase(), value] as const);
  return JSON.stringify(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}
