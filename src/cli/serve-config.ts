import { hostname } from 'node:os';
import * as path from 'node:path';
import { parseListen } from '../control/listen';
import { defaultTopology, MAX_NAME, MAX_VOLUME_BYTES } from '../server/defaults';
import type { KubeletOptions } from '../server/driver';
import { checkSocketLength, socketPathOf } from '../server/endpoint';
import { SecretPolicy } from '../server/secrets';
import { parseCapabilities } from '../services/capabilities';
import { checkSegments } from '../services/rules/topology';
import { parseQuantity } from '../util/quantity';
import type { Segments } from '../volumes/records';
import { dataDirOf } from './data-dir';
import type { ServeArguments } from './serve-options';

const MAX_NODE_ID_BYTES = 256;
const DOMAIN_NAME = /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

/**
 * The arguments and the environment, checked and made into what a driver is started with.
 * @throws Error with one line that says which option, what was expected and what was found.
 */
export function readConfig(args: ServeArguments, environment: NodeJS.ProcessEnv) {
  const dataDir = dataDirOf(args.dataDir, environment);
  const endpoint =
    args.endpoint ?? environment.CSI_ENDPOINT ?? `unix://${path.join(dataDir, 'csi', 'csi.sock')}`;
  const driverName = checkDriverName(args.driverName);
  const topologies = readTopology(args.topology, driverName);
  return {
    dataDir,
    socket: socketPathOf(endpoint),
    nodeId: checkNodeId(args.nodeId ?? environment.FAKE_CSI_NODE_ID ?? hostname()),
    driverName,
    profile: args.services,
    advertise: args.advertise ?? (args.services === 'controller' ? ('all' as const) : args.services),
    capabilities: parseCapabilities(args.capabilities),
    fsType: args.fsType as 'ext4' | 'xfs' | 'btrfs',
    defaultSizeBytes: size('--default-size', args.defaultSize),
    capacityBytes: args.capacity === undefined ? undefined : size('--capacity', args.capacity),
    maxVolumeBytes:
      args.maxVolumeSize === undefined ? MAX_VOLUME_BYTES : size('--max-volume-size', args.maxVolumeSize),
    maxVolumesPerNode: count('--max-volumes-per-node', args.maxVolumesPerNode),
    topology: topologies.own,
    extraTopologies: topologies.extra,
    scenarios: args.scenario.map((place) => path.resolve(place)),
    gallery: args.gallery.map((place) => path.resolve(place)),
    strict: args.strict,
    strictLimits: args.strictLimits,
    secrets: args.secretsFile === undefined ? undefined : SecretPolicy.read(args.secretsFile),
    kubelet: readKubelet(args),
    control: args.control === false ? undefined : readControl(args, environment),
  };
}

/** What can be wrong with it is said before anything is started. */
function readControl(args: ServeArguments, environment: NodeJS.ProcessEnv) {
  const { controlListen: listen, controlTokenFile: tokenFile } = args;
  const token = environment.FAKE_CSI_CONTROL_TOKEN || undefined;
  if (listen !== undefined) parseListen(listen, token !== undefined || tokenFile !== undefined);
  return { listen, token, tokenFile };
}

const KUBELET_DIR = '/var/lib/kubelet';

function readKubelet({
  register,
  kubeletDir,
  kubeletEndpoint,
  services,
}: ServeArguments): KubeletOptions | undefined {
  if (register && services === 'controller')
    throw new Error(
      '--register: a kubelet registers node plugins; expected --services all or node, found controller',
    );
  if (kubeletEndpoint !== undefined) {
    if (!register) throw new Error('--kubelet-endpoint: it is told at registration; add --register');
    if (!path.isAbsolute(kubeletEndpoint))
      throw new Error(
        `--kubelet-endpoint: expected an absolute path such as ${KUBELET_DIR}/plugins/fake.csi.test/csi.sock, found ${JSON.stringify(kubeletEndpoint)}`,
      );
    checkSocketLength(kubeletEndpoint, `--kubelet-endpoint ${kubeletEndpoint}`);
  }
  if (!register && kubeletDir === undefined) return undefined;
  return { dir: path.resolve(kubeletDir ?? KUBELET_DIR), register, endpoint: kubeletEndpoint };
}

/** csi-sanity and RFC 1035 agree on: a letter first, a letter or digit last; the specification adds 63 characters. */
function checkDriverName(name: string): string {
  if (name.length <= MAX_NAME && DOMAIN_NAME.test(name)) return name;
  throw new Error(
    `--driver-name: expected 1 to ${MAX_NAME} letters, digits, dots and dashes, a letter or digit on each side of a dot and at both ends; found ${JSON.stringify(name)}`,
  );
}

function checkNodeId(id: string): string {
  const bytes = Buffer.byteLength(id);
  if (bytes > 0 && bytes <= MAX_NODE_ID_BYTES) return id;
  throw new Error(`--node-id: expected 1 to ${MAX_NODE_ID_BYTES} bytes, found ${bytes}`);
}

function size(option: string, text: string): bigint {
  const bytes = parseQuantity(text);
  if (bytes !== undefined && bytes > 0n) return bytes;
  throw new Error(`${option}: expected a size such as 10Gi or 1073741824, found ${JSON.stringify(text)}`);
}

function count(option: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${option}: expected a whole number from 0, found ${value}`);
}

/** `key=value` segments; the second value of a key begins another place, which the controller may choose too. */
function readTopology(segments: readonly string[], driverName: string): { own: Segments; extra: Segments[] } {
  if (segments.length === 0) return { own: defaultTopology(driverName), extra: [] };
  const places: Segments[] = [{}];
  for (const segment of segments) {
    const [, key, value] = /^([^=]+)=(.*)$/.exec(segment) ?? [];
    if (key === undefined || value === undefined)
      throw new Error(`--topology: expected [prefix/]name=value, found ${JSON.stringify(segment)}`);
    const place = places.find((known) => !(key in known));
    if (place) place[key] = value;
    else places.push({ [key]: value });
  }
  const [own = {}, ...others] = places;
  const extra = others.map((place) => ({ ...own, ...place }));
  for (const place of [own, ...extra]) checkSegments(place, '--topology');
  const prefixes = new Set(Object.keys(own).flatMap((key) => key.split('/').slice(0, -1)));
  if (prefixes.size > 1)
    throw new Error(
      `--topology: expected one prefix for all keys (CSI 1.12, Topology), found ${[...prefixes].join(' and ')}`,
    );
  return { own, extra };
}
