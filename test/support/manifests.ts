import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT = path.join(__dirname, '../..');
export const DEPLOY = path.join(ROOT, 'deploy');

export interface VolumeMount {
  name: string;
  mountPath: string;
  mountPropagation?: string;
}

export interface Container {
  name: string;
  image: string;
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: { fieldRef?: { fieldPath: string } } }[];
  ports?: { name: string; containerPort: number }[];
  livenessProbe?: { httpGet: { path: string; port: string } };
  readinessProbe?: { exec: { command: string[] } };
  securityContext?: { privileged?: boolean; capabilities?: { drop: string[] } };
  volumeMounts?: VolumeMount[];
}

export interface PodVolume {
  name: string;
  hostPath?: { path: string };
  emptyDir?: object;
  configMap?: { name: string; optional?: boolean };
  persistentVolumeClaim?: { claimName: string };
  ephemeral?: { volumeClaimTemplate: { spec: ClaimSpec } };
  csi?: { driver: string; volumeAttributes: Record<string, string> };
}

export interface PodSpec {
  containers: Container[];
  volumes?: PodVolume[];
  serviceAccountName?: string;
}

export interface ClaimSpec {
  storageClassName?: string;
  volumeName?: string;
  volumeAttributesClassName?: string;
  dataSource?: { kind: string; name: string };
}

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

/** A Kubernetes object, with those fields of its kind that tests look at. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: unknown;
  data?: Record<string, string>;
  /** StorageClass, VolumeAttributesClass */
  parameters?: Record<string, string>;
  provisioner?: string;
  driver?: string;
  driverName?: string;
  volumeBindingMode?: string;
  allowVolumeExpansion?: boolean;
  /** ClusterRole */
  rules?: Rule[];
  /** ClusterRoleBinding */
  roleRef?: { kind: string; name: string };
  subjects?: { kind: string; name: string; namespace: string }[];
}

/** @throws Error for text that is no YAML. */
export function manifestsIn(text: string, from: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`${from}: ${document.errors.join('; ')}`);
    const object = document.toJS() as Manifest | null;
    return object === null ? [] : [object];
  });
}

export function manifestsOf(...files: string[]): Manifest[] {
  return files.flatMap((file) => manifestsIn(fs.readFileSync(path.join(DEPLOY, file), 'utf8'), file));
}

/** The YAML files below deploy/, relative to it. */
export function deployFiles(): string[] {
  return fs
    .readdirSync(DEPLOY, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .sort();
}

/** The pod of a Pod, Deployment or DaemonSet; undefined for another kind. */
export function podOf({ kind, spec }: Manifest): PodSpec | undefined {
  if (kind === 'Pod') return spec as PodSpec;
  if (kind !== 'Deployment' && kind !== 'DaemonSet') return undefined;
  return (spec as { template: { spec: PodSpec } }).template.spec;
}

/** @throws Error when there is none or several. */
export function only<T>(things: readonly T[], what: string): T {
  const [first, ...others] = things;
  if (first === undefined || others.length > 0)
    throw new Error(`expected one ${what}, found ${things.length}`);
  return first;
}

export function named(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.filter(
    (one) => one.kind === kind && (name === undefined || one.metadata.name === name),
  );
  return only(found, `${kind} ${name ?? ''}`);
}

export function ofKind(manifests: readonly Manifest[], kind: string): Manifest[] {
  return manifests.filter((one) => one.kind === kind);
}

export function containerOf(pod: PodSpec, name: string): Container {
  return only(
    pod.containers.filter((one) => one.name === name),
    `container ${name}`,
  );
}

/** The value of `--name=value`. */
export function argument(container: Container, name: string): string {
  const prefix = `--${name}=`;
  const found = (container.args ?? []).filter((word) => word.startsWith(prefix));
  return only(found, `${prefix} of ${container.name}`).slice(prefix.length);
}

/** What a path in a container is outside of it: a path on the node, or one in a volume of the pod. */
export function outside(pod: PodSpec, container: Container, file: string): string {
  const mounts = (container.volumeMounts ?? [])
    .filter(({ mountPath }) => file === mountPath || file.startsWith(`${mountPath}/`))
    .sort((a, b) => b.mountPath.length - a.mountPath.length);
  const mount = mounts[0];
  if (mount === undefined) throw new Error(`nothing is mounted at ${file} in ${container.name}`);
  const volume = only(
    (pod.volumes ?? []).filter(({ name }) => name === mount.name),
    `volume ${mount.name}`,
  );
  return (volume.hostPath?.path ?? `${mount.name}:`) + file.slice(mount.mountPath.length);
}
