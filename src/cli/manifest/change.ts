import { parseScenarios } from '../../scenarios/language';
import { DEFAULT_DRIVER_NAME } from '../../server/defaults';
import { repositoryOf } from './kustomize';
import { containersOf, isFields, type KubernetesObject, templateOf } from './objects';

/** What deploy/ says, and flags say otherwise. */
export const DEPLOYED = {
  driverName: DEFAULT_DRIVER_NAME,
  namespace: 'kube-system',
  kubeletDir: '/var/lib/kubelet',
  dataDir: '/var/lib/fake-csi',
  backend: 'loop',
  image: 'fake-csi',
} as const;

/**
 * Replaces words of all texts but the files in ConfigMaps: a driver's name and a kubelet's folder stand in many places,
 * which have to go on agreeing. In one pass, so that nothing replaced is replaced again.
 */
export function renameEverywhere(
  object: KubernetesObject,
  { driverName, kubeletDir }: { driverName: string; kubeletDir: string },
): void {
  const words: Readonly<Record<string, string>> = {
    [DEPLOYED.driverName]: driverName,
    [DEPLOYED.kubeletDir]: kubeletDir,
  };
  // A word ends where no character of a name or folder follows.
  const pattern = new RegExp(
    `(?<![\\w.-])(${Object.keys(words)
      .map((word) => word.replace(/[.]/g, '\\.'))
      .join('|')})(?![\\w.-])`,
    'g',
  );
  const inside = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(pattern, (word) => words[word] ?? word);
    if (Array.isArray(value)) return value.map(inside);
    if (!isFields(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inside(one)]));
  };
  for (const [key, value] of Object.entries(object)) {
    if (object.kind === 'ConfigMap' && key === 'data') continue;
    object[key] = inside(value);
  }
}

/** Where an object is, and whom its bindings name. */
export function moveTo(object: KubernetesObject, namespace: string): void {
  if (object.metadata.namespace !== undefined) object.metadata.namespace = namespace;
  const { subjects } = object;
  if (!Array.isArray(subjects)) return;
  for (const subject of subjects as { namespace?: string }[])
    if (subject.namespace !== undefined) subject.namespace = namespace;
}

/** The folder of the node only: in the container it stays where commands look for it. */
export function placeData(object: KubernetesObject, dataDir: string): void {
  for (const { hostPath } of templateOf(object)?.spec.volumes ?? [])
    if (hostPath?.path === DEPLOYED.dataDir) hostPath.path = dataDir;
}

export function setImage(object: KubernetesObject, image: string): void {
  for (const container of ourContainers(object)) container.image = image;
}

function ourContainers(object: KubernetesObject) {
  return containersOf(object).filter(({ image }) => repositoryOf(image) === DEPLOYED.image);
}

/** Where a list of arguments says `--backend=loop` already, it is changed; anything else is added. */
export function setArguments(
  object: KubernetesObject,
  optionsOf: (services: string) => readonly string[],
): void {
  for (const container of ourContainers(object)) {
    const args = container.args ?? [];
    const services =
      args.find((word) => word.startsWith('--services='))?.slice('--services='.length) ?? 'all';
    for (const option of optionsOf(services)) {
      const name = /^--[a-z-]+=/.exec(option)?.[0];
      const at =
        name === '--topology=' ? -1 : args.findIndex((word) => name !== undefined && word.startsWith(name));
      if (at === -1) args.push(option);
      else args[at] = option;
    }
    container.args = args;
  }
}

const FS_TYPE = 'csi.storage.k8s.io/fstype';

/**
 * Where the driver's own backend is none of disks: a class of ext4 takes the backend's files instead, and one that is there
 * for a filesystem, a raw device or a fault of the disk says which backend has those.
 */
export function setBackend(
  object: KubernetesObject,
  backend: string,
  needDisks: (scenario: unknown) => boolean,
): void {
  if (backend === DEPLOYED.backend) return;
  if (object.kind === 'StorageClass' && isFields(object.parameters)) {
    const { parameters } = object;
    if (parameters.backend !== undefined) return;
    if (parameters[FS_TYPE] === 'ext4' && !needDisks(parameters.scenario)) parameters[FS_TYPE] = backend;
    else parameters.backend = DEPLOYED.backend;
  }
  for (const { args } of containersOf(object)) {
    const at = args?.indexOf('--default-fstype=ext4') ?? -1;
    if (args && at !== -1) args[at] = `--default-fstype=${backend}`;
  }
}

/** Whether a scenario of the manifest's own ConfigMaps does something to a volume's disk. */
export function scenariosOnDisks(objects: readonly KubernetesObject[]): (scenario: unknown) => boolean {
  const files = objects.flatMap(({ kind, data }) =>
    kind === 'ConfigMap' && isFields(data) ? Object.entries(data) : [],
  );
  const names = files.flatMap(([file, text]) =>
    parseScenarios(`${text}`, file).scenarios.flatMap(({ name, rules }) =>
      rules.some(({ stages }) =>
        stages.some(({ steps }) => steps.some(({ action }) => action.kind === 'disk')),
      )
        ? [name]
        : [],
    ),
  );
  return (scenario) => typeof scenario === 'string' && names.includes(scenario);
}
