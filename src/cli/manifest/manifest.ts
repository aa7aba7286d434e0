import * as fs from 'node:fs';
import * as path from 'node:path';
import { checkSocketLength } from '../../server/endpoint';
import { armedScenarios } from './armed';
import {
  DEPLOYED,
  moveTo,
  placeData,
  renameEverywhere,
  scenariosOnDisks,
  setArguments,
  setBackend,
  setImage,
} from './change';
import { buildKustomization } from './kustomize';
import { containersOf, type KubernetesObject } from './objects';
import { readServe } from './read-serve';

/** What flags say of an installation; sizes and the like as `serve` takes them. */
export interface ManifestOptions {
  overlay: string;
  /** Whether csi-snapshotter, its role and its class are in the overlay full. */
  snapshots: boolean;
  driverName: string;
  namespace: string;
  image?: string;
  kubeletDir: string;
  dataDir: string;
  backend: string;
  capacity?: string;
  maxVolumeSize?: string;
  defaultSize?: string;
  maxVolumesPerNode?: number;
  topology: readonly string[];
  strict: boolean;
  logLevel?: string;
  /** Files or folders. */
  scenarios: readonly string[];
  /** Kinds, all when none is named. */
  only: readonly string[];
}

/** In a checkout, in the package and in the image. */
const DEPLOY = path.join(__dirname, '../../../deploy');

/**
 * What `kubectl kustomize deploy/overlays/<overlay>` gives, with every place changed that a flag is about.
 * @throws Error with one line for what cannot be, and for files that are no scenarios.
 */
export function makeManifest(options: ManifestOptions, deploy = DEPLOY): KubernetesObject[] {
  check(options);
  if (!fs.existsSync(deploy))
    throw new Error(
      `${deploy}: expected the manifests that come with fake-csi, found no such folder; install the package again, or run it in a checkout`,
    );
  const leaveOut = (component: string) =>
    !options.snapshots && path.relative(deploy, component) === 'snapshots';
  const objects = buildKustomization(path.join(deploy, 'overlays', options.overlay), leaveOut);
  const needDisks = scenariosOnDisks(objects);
  for (const object of objects) {
    setArguments(object, (services) => serveOptions(options, services));
    if (options.image !== undefined) setImage(object, options.image);
    placeData(object, options.dataDir);
    setBackend(object, options.backend, needDisks);
    moveTo(object, options.namespace);
    renameEverywhere(object, options);
  }
  // The id comes from the pod.
  for (const object of objects)
    for (const { args } of containersOf(object))
      if (args?.[0] === 'serve') readServe(args.slice(1), { FAKE_CSI_NODE_ID: 'node' });
  const armed = armedScenarios(options.scenarios);
  if (armed !== undefined) objects.unshift(configMap(armed, options));
  return select(objects, options.only);
}

/** As the object that workloads mount at --scenario, if there is one. */
function configMap(
  data: Record<string, string>,
  { namespace, driverName }: ManifestOptions,
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'fake-csi-armed',
      namespace,
      labels: {
        app: 'fake-csi',
        'app.kubernetes.io/component': 'scenarios',
        'app.kubernetes.io/instance': driverName,
        'app.kubernetes.io/name': 'fake-csi',
        'app.kubernetes.io/part-of': 'fake-csi',
      },
    },
    data,
  };
}

function serveOptions(options: ManifestOptions, services: string): string[] {
  const words: [name: string, value: string | number | undefined][] = [
    ['driver-name', options.driverName === DEPLOYED.driverName ? undefined : options.driverName],
    ['backend', options.backend],
    ['capacity', options.capacity],
    ['max-volume-size', options.maxVolumeSize],
    ['default-size', options.defaultSize],
    ['log-level', options.logLevel],
    // The limit is the node's to tell; the controller reads it in the node's record.
    ['max-volumes-per-node', services === 'node' ? options.maxVolumesPerNode : undefined],
    ...options.topology.map((segment): [string, string] => ['topology', segment]),
  ];
  return [
    ...words.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    ...(options.strict ? ['--strict'] : []),
  ];
}

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** name[:tag][@digest], with a registry and its port before it. */
const IMAGE =
  /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/i;

function check({ driverName, namespace, image, kubeletDir, dataDir }: ManifestOptions): void {
  // CSIDriver is named by it, and labels have it.
  if (driverName !== driverName.toLowerCase())
    throw new Error(
      `--driver-name: expected lower case, since a CSIDriver object is named by it; found ${JSON.stringify(driverName)}`,
    );
  if (!LABEL.test(namespace))
    throw new Error(
      `--namespace: expected 1 to 63 lower-case letters, digits and dashes; found ${JSON.stringify(namespace)}`,
    );
  if (image !== undefined && !IMAGE.test(image))
    throw new Error(
      `--image: expected an image such as registry.example.com/fake-csi:1, found ${JSON.stringify(image)}`,
    );
  for (const [option, folder] of [
    ['--kubelet-dir', kubeletDir],
    ['--data-dir', dataDir],
  ] as const)
    if (
      !path.isAbsolute(folder) ||
      folder === '/' ||
      path.normalize(folder) !== folder ||
      folder.endsWith('/')
    )
      throw new Error(
        `${option}: expected the absolute path of a folder on the nodes, without .. or a slash at its end; found ${JSON.stringify(folder)}`,
      );
  const socket = `${kubeletDir}/plugins_registry/${driverName}-reg.sock`;
  checkSocketLength(socket, `--kubelet-dir and --driver-name: ${socket}`);
}

function select(objects: KubernetesObject[], only: readonly string[]): KubernetesObject[] {
  if (only.length === 0) return objects;
  const kinds = [...new Set(objects.map(({ kind }) => kind))].sort();
  const wanted = only.map((word) => {
    const kind = kinds.find((one) => one.toLowerCase() === word.toLowerCase());
    if (kind === undefined)
      throw new Error(`--only: expected kinds that are in it (${kinds.join(', ')}), found ${word}`);
    return kind;
  });
  return objects.filter(({ kind }) => wanted.includes(kind));
}
