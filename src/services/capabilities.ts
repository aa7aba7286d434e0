import type { Capabilities, CapabilityKind } from '../csi/capabilities';
import { _csi_v1_ControllerServiceCapability_RPC_Type as ControllerType } from '../csi/gen/csi/v1/ControllerServiceCapability';
import { _csi_v1_GroupControllerServiceCapability_RPC_Type as GroupType } from '../csi/gen/csi/v1/GroupControllerServiceCapability';
import { _csi_v1_NodeServiceCapability_RPC_Type as NodeType } from '../csi/gen/csi/v1/NodeServiceCapability';
import {
  _csi_v1_PluginCapability_VolumeExpansion_Type as ExpansionType,
  _csi_v1_PluginCapability_Service_Type as ServiceType,
} from '../csi/gen/csi/v1/PluginCapability';
import type { ServiceName } from '../csi/rpcs';

/** Wire numbers of every capability, by the RPC that reports them. */
const NUMBERS: Record<CapabilityKind, Record<string, number>> = {
  plugin: { ...ServiceType, ...ExpansionType },
  controller: { ...ControllerType },
  node: { ...NodeType },
  group: { ...GroupType },
};

/** Capability names of CSI 1.12 with their wire numbers, by the RPC that reports them. `plugin` also holds ONLINE and OFFLINE. */
export const CAPABILITIES: Readonly<Record<CapabilityKind, Readonly<Record<string, number>>>> = {
  plugin: known(NUMBERS.plugin),
  controller: known(NUMBERS.controller),
  node: known(NUMBERS.node),
  group: known(NUMBERS.group),
};

function known(numbers: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).filter(([name]) => name !== 'UNKNOWN'));
}

const KINDS = Object.keys(CAPABILITIES) as CapabilityKind[];

/** `OFFLINE` is the one capability that is off unless asked for: ONLINE already covers an unpublished volume. */
const OFF_BY_DEFAULT = new Set(['plugin.OFFLINE']);

function everything(): Record<CapabilityKind, Set<string>> {
  return {
    plugin: new Set(Object.keys(CAPABILITIES.plugin).filter((name) => !OFF_BY_DEFAULT.has(`plugin.${name}`))),
    controller: new Set(Object.keys(CAPABILITIES.controller)),
    node: new Set(Object.keys(CAPABILITIES.node)),
    group: new Set(Object.keys(CAPABILITIES.group)),
  };
}

function kindsOf(word: string): { kinds: CapabilityKind[]; name: string } {
  const dot = word.indexOf('.');
  const name = (dot < 0 ? word : word.slice(dot + 1)).toUpperCase();
  const kind = dot < 0 ? undefined : word.slice(0, dot).toLowerCase();
  const kinds = KINDS.filter((k) => (kind === undefined || k === kind) && name in CAPABILITIES[k]);
  if (kinds.length === 0) {
    const known = KINDS.flatMap((k) => Object.keys(CAPABILITIES[k]).map((n) => `${k}.${n}`));
    throw new Error(`--capabilities: unknown capability "${word}"; known are ${known.join(', ')}`);
  }
  return { kinds, name };
}

/**
 * Reads a `--capabilities` list: everything is on to begin with; `-NAME` switches off, `+NAME` or `NAME` on, `none` and
 * `all` set the whole. A name that several services report (EXPAND_VOLUME) means all of them unless a kind stands before
 * it: `-node.EXPAND_VOLUME`.
 * @throws Error with one line, for an unknown name or a set the specification forbids.
 */
export function parseCapabilities(list: string): Capabilities {
  let set = everything();
  for (const raw of list.split(',')) {
    const word = raw.trim();
    if (word === '') continue;
    if (word.toLowerCase() === 'all') set = everything();
    else if (word.toLowerCase() === 'none')
      set = { plugin: new Set(), controller: new Set(), node: new Set(), group: new Set() };
    else {
      const off = /^[-!]/.test(word);
      const { kinds, name } = kindsOf(word.replace(/^[-+!]/, ''));
      for (const kind of kinds) {
        if (off) set[kind].delete(name);
        else set[kind].add(name);
      }
    }
  }
  checkClosure(set);
  return set;
}

/** The rules of CSI 1.12 for which capabilities need which others. */
function checkClosure(set: Capabilities): void {
  const need = (kind: CapabilityKind, name: string, ok: boolean, needed: string) => {
    if (set[kind].has(name) && !ok)
      throw new Error(
        `--capabilities: ${kind}.${name} needs ${needed}; switch that on, or ${name} off (-${kind}.${name})`,
      );
  };
  const attach = set.controller.has('PUBLISH_UNPUBLISH_VOLUME');
  const attachName = 'controller.PUBLISH_UNPUBLISH_VOLUME';
  need('controller', 'LIST_VOLUMES_PUBLISHED_NODES', attach, attachName);
  need('controller', 'PUBLISH_READONLY', attach, attachName);
  const grows = set.controller.has('EXPAND_VOLUME');
  need(
    'plugin',
    'ONLINE',
    grows || set.node.has('EXPAND_VOLUME'),
    'controller.EXPAND_VOLUME or node.EXPAND_VOLUME',
  );
  need('plugin', 'OFFLINE', grows, 'controller.EXPAND_VOLUME');
}

const ALL_SERVICES: readonly ServiceName[] = [
  'Identity',
  'Controller',
  'Node',
  'GroupController',
  'SnapshotMetadata',
];

export const PROFILES = ['all', 'node', 'controller'] as const;
export type Profile = (typeof PROFILES)[number];

/** The services a process answers for, in each profile of `--services`. */
export function servicesOf(profile: Profile): ReadonlySet<ServiceName> {
  if (profile === 'node') return new Set(['Identity', 'Node']);
  if (profile === 'controller')
    return new Set(['Identity', 'Controller', 'GroupController', 'SnapshotMetadata']);
  return new Set(ALL_SERVICES);
}

const SERVICE_CAPABILITIES = ['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE', 'SNAPSHOT_METADATA_SERVICE'];

/**
 * What GetPluginCapabilities reports for a process. Instances of one version must agree (CSI 1.12, GetPluginCapabilities),
 * so a node process that belongs to a plugin with a controller elsewhere says `advertise: 'all'`; alone, it must not
 * claim a controller that does not exist.
 */
export function advertised(set: Capabilities, advertise: Profile): Capabilities {
  if (advertise !== 'node') return set;
  return { ...set, plugin: new Set([...set.plugin].filter((name) => !SERVICE_CAPABILITIES.includes(name))) };
}
