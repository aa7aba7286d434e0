import { BACKEND_NAMES, type BackendName } from '../backends/backend';
import { invalidArgument } from '../csi/status';
import { parseQuantity } from '../util/quantity';
import type { ClaimRecord } from '../volumes/records';

/** Kubernetes' own keys, which external-provisioner and external-snapshotter add; never an error. */
const KUBERNETES_PREFIX = 'csi.storage.k8s.io/';
const FSTYPE_KEY = 'csi.storage.k8s.io/fstype';

type Check = (value: string) => string | undefined;

const isBoolean: Check = (value) =>
  value === 'true' || value === 'false' ? undefined : 'expected true or false';
const isBackend: Check = (value) =>
  BACKEND_NAMES.some((name) => name === value) ? undefined : `expected one of ${BACKEND_NAMES.join(', ')}`;
const isSize: Check = (value) => {
  const bytes = parseQuantity(value);
  return bytes !== undefined && bytes > 0n ? undefined : 'expected a size such as 1Gi or 1073741824';
};
const isText: Check = (value) => (value === '' ? 'expected some text' : undefined);
const isName: Check = (value) =>
  /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(value)
    ? undefined
    : 'expected a scenario name (lower case, digits, dashes)';
const isDuration: Check = (value) =>
  parseDuration(value) === undefined ? 'expected a duration such as 500ms, 5s or 2m' : undefined;
const isReadAhead: Check = (value) =>
  /^\d{1,6}$/.test(value) && Number(value) <= 65_536 ? undefined : 'expected KiB from 0 to 65536';

/** CreateVolume parameters, as in a StorageClass. */
const VOLUME_PARAMETERS: Record<string, Check> = {
  backend: isBackend,
  scenario: isName,
  /** A driver is not told the name of a volume's StorageClass: one that rules match by says it here. */
  storageClass: isText,
  groupable: isBoolean,
};

/** What ControllerModifyVolume (a VolumeAttributesClass) may change; CreateVolume takes them in either map. */
const MUTABLE_PARAMETERS: Record<string, Check> = {
  readAheadKiB: isReadAhead,
  deletionProtection: isBoolean,
};

const SNAPSHOT_PARAMETERS: Record<string, Check> = {
  readyAfter: isDuration,
  dependent: isBoolean,
  trackBlocks: isBoolean,
};

/** volumeAttributes of a static PersistentVolume or an inline volume. */
const ATTRIBUTES: Record<string, Check> = {
  size: isSize,
  backend: isBackend,
  scenario: isName,
};

/** Milliseconds of `500ms`, `5s`, `2m`, `1h`. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h)$/.exec(text);
  if (!match) return undefined;
  const unit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as 'ms' | 's' | 'm' | 'h'];
  return Number(match[1]) * unit;
}

function check(field: string, map: Record<string, string>, known: Record<string, Check>): void {
  for (const [key, value] of Object.entries(map)) {
    if (key.startsWith(KUBERNETES_PREFIX)) continue;
    const problem = Object.hasOwn(known, key)
      ? known[key]?.(value)
      : `unknown key; expected one of ${Object.keys(known).join(', ')}`;
    if (problem)
      throw invalidArgument(`${field}[${JSON.stringify(key)}]: ${problem}, found ${JSON.stringify(value)}`);
  }
}

/** @returns our own keys. @throws CsiError INVALID_ARGUMENT for a key or value that is none of ours. */
export function readMutableParameters(map: Record<string, string>): Record<string, string> {
  check('mutable_parameters', map, MUTABLE_PARAMETERS);
  return ownKeys(map, MUTABLE_PARAMETERS);
}

export function checkSnapshotParameters(map: Record<string, string>): void {
  check('parameters', map, SNAPSHOT_PARAMETERS);
}

export interface VolumeParameters {
  backend: BackendName | undefined;
  /** Our own immutable keys. */
  own: Record<string, string>;
  /** Our own mutable keys, mutable_parameters before parameters. */
  mutable: Record<string, string>;
  claim: ClaimRecord;
  /** From csi.storage.k8s.io/fstype, should a provisioner leave it in. */
  fsType: string | undefined;
}

/** Reads CreateVolume's two maps. The same key in both: mutable_parameters wins (CSI 1.12, CreateVolume). */
export function readVolumeParameters(
  parameters: Record<string, string>,
  mutableParameters: Record<string, string>,
): VolumeParameters {
  const changeable = readMutableParameters(mutableParameters);
  check('parameters', parameters, { ...VOLUME_PARAMETERS, ...MUTABLE_PARAMETERS });
  const own: Record<string, string> = {};
  const mutable: Record<string, string> = {};
  for (const [key, value] of Object.entries(parameters)) {
    if (Object.hasOwn(MUTABLE_PARAMETERS, key)) mutable[key] = value;
    else if (Object.hasOwn(VOLUME_PARAMETERS, key)) own[key] = value;
  }
  Object.assign(mutable, changeable);
  return {
    backend: own.backend as BackendName | undefined,
    own,
    mutable,
    claim: readClaim(parameters),
    fsType: parameters[FSTYPE_KEY],
  };
}

function readClaim(parameters: Record<string, string>): ClaimRecord {
  const claim: ClaimRecord = {};
  const name = parameters['csi.storage.k8s.io/pvc/name'];
  const namespace = parameters['csi.storage.k8s.io/pvc/namespace'];
  const volume = parameters['csi.storage.k8s.io/pv/name'];
  if (name !== undefined) claim.name = name;
  if (namespace !== undefined) claim.namespace = namespace;
  if (volume !== undefined) claim.volume = volume;
  return claim;
}

function ownKeys(map: Record<string, string>, known: Record<string, Check>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => Object.hasOwn(known, key)));
}

/** Our keys of a volume context; a CO adds others, which are no business of ours. */
export function readAttributes(context: Record<string, string>): Record<string, string> {
  const own = ownKeys(context, ATTRIBUTES);
  check('volume_context', own, ATTRIBUTES);
  return own;
}

/** A volume context without the keys that Kubernetes and its sidecars add: pods, tokens, who provisioned it. */
export function withoutKubernetes(context: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(context).filter(
      ([key]) => !key.startsWith(KUBERNETES_PREFIX) && !key.startsWith('storage.kubernetes.io/'),
    ),
  );
}
