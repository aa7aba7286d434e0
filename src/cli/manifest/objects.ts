/** A Kubernetes object as YAML gives it: only what is asked of every kind has a type. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> } & Fields;
  [field: string]: unknown;
}

export interface Fields {
  [field: string]: unknown;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function nameOf({ kind, metadata: { name, namespace } }: KubernetesObject): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

export interface Container extends Fields {
  name: string;
  image: string;
  args?: string[];
}

export interface PodTemplate extends Fields {
  metadata?: { labels?: Record<string, string> } & Fields;
  spec: {
    containers: Container[];
    volumes?: ({ name: string; hostPath?: { path: string } } & Fields)[];
  } & Fields;
}

/** Of a Deployment, DaemonSet or whatever else makes pods; undefined for other kinds. */
export function templateOf(object: KubernetesObject): PodTemplate | undefined {
  const { spec } = object;
  return isFields(spec) && isFields(spec.template) ? (spec.template as PodTemplate) : undefined;
}

export function containersOf(object: KubernetesObject): Container[] {
  return templateOf(object)?.spec.containers ?? [];
}
