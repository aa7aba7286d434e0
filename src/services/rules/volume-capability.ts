import type { Capabilities } from '../../csi/capabilities';
import {
  _csi_v1_VolumeCapability_AccessMode_Mode as Mode,
  type _csi_v1_VolumeCapability_MountVolume__Output as MountVolume,
  type VolumeCapability__Output,
} from '../../csi/gen/csi/v1/VolumeCapability';
import { type Check, invalid, message } from './check';
import { text, utf8Bytes } from './text';

/** Size Limits of the specification: all mount_flags of one capability together. */
const MOUNT_FLAGS_LIMIT = 4096;

const modeNames = new Map<number, string>(Object.entries(Mode).map(([name, number]) => [number, name]));
const knownModes = Object.keys(Mode).filter((name) => name !== 'UNKNOWN');

/** Alpha modes that a CO may use only when the service it calls says it knows them. */
const gatedModes: ReadonlySet<number> = new Set([
  Mode.SINGLE_NODE_SINGLE_WRITER,
  Mode.SINGLE_NODE_MULTI_WRITER,
]);
const GATE = 'SINGLE_NODE_MULTI_WRITER';

/** Why a service does not speak of an access mode; undefined when it does. */
export function unadvertisedMode(
  mode: number,
  service: 'controller' | 'node',
  advertised: Capabilities,
): string | undefined {
  if (!gatedModes.has(mode) || advertised[service].has(GATE)) return undefined;
  return `${modeNames.get(mode)} needs ${service} capability ${GATE}, which is off`;
}

const mountFlags: Check<string[]> = (flags, at) => {
  let bytes = 0;
  for (const flag of flags) bytes += utf8Bytes(flag);
  if (bytes > MOUNT_FLAGS_LIMIT) {
    throw invalid(at, `at most ${MOUNT_FLAGS_LIMIT} bytes in all`, `${bytes} bytes`);
  }
};

const mountVolume = message<MountVolume>({
  fs_type: text(),
  mount_flags: mountFlags,
  volume_mount_group: text(),
});

/** A capability that a CO asks about: an access mode that is not advertised is what the answer is for. */
export const askedCapability: Check<VolumeCapability__Output> = (capability, at, config) => {
  if (!capability.access_mode) {
    throw invalid(`${at}.access_mode`, `a value (required field): ${knownModes.join(', ')}`, 'none');
  }
  const { mode } = capability.access_mode;
  const name = modeNames.get(mode);
  if (mode === Mode.UNKNOWN || name === undefined) {
    throw invalid(`${at}.access_mode.mode`, `one of ${knownModes.join(', ')}`, name ?? `${mode}`);
  }
  // A present but empty `mount {}` counts; both arms arrive when a client encodes them one after the other.
  if (!capability.block === !capability.mount) {
    throw invalid(at, 'exactly one of block and mount', capability.block ? 'both' : 'neither');
  }
  if (capability.mount) mountVolume(capability.mount, `${at}.mount`, config);
};

/** A capability to be used. `service` is the one whose SINGLE_NODE_MULTI_WRITER capability opens the two alpha modes. */
export function volumeCapability(service: 'controller' | 'node'): Check<VolumeCapability__Output> {
  return (capability, at, config) => {
    askedCapability(capability, at, config);
    const mode = capability.access_mode?.mode ?? Mode.UNKNOWN;
    if (unadvertisedMode(mode, service, config) === undefined) return;
    const usable = knownModes.filter((known) => !gatedModes.has(Mode[known as keyof typeof Mode]));
    const expected = `one of ${usable.join(', ')}, as ${service} capability ${GATE} is not advertised`;
    throw invalid(`${at}.access_mode.mode`, expected, `${modeNames.get(mode)}`);
  };
}
