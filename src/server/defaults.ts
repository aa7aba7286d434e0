import type { Segments } from '../volumes/records';

/** `.test` is reserved for testing by RFC 6761. */
export const DEFAULT_DRIVER_NAME = 'fake.csi.test';
export const DEFAULT_FS_TYPE = 'ext4';
export const DEFAULT_SIZE = '1Gi';
export const MAX_VOLUME_BYTES = 2n ** 62n;
/** Of a plugin's name, and of each part of a topology key. */
export const MAX_NAME = 63;

const TOPOLOGY = 'topology.';

/** Where a node is that was not told. */
export function defaultTopology(driverName: string): Segments {
  return { [defaultTopologyKey(driverName)]: 'default' };
}

/** A key's prefix is a lower-case domain name of at most 63 characters, which a driver's name already may be. */
function defaultTopologyKey(driverName: string): string {
  const name = driverName.toLowerCase();
  return `${name.length <= MAX_NAME - TOPOLOGY.length ? TOPOLOGY : ''}${name}/zone`;
}
