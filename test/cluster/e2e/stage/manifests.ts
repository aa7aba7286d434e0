/** Objects of the tests, as short as they may be. All of them use the StorageClasses that deploy/ installs. */

type Json = Record<string, unknown>;

export function claim(name: string, storageClass: string, more: Json = {}): Json {
  const { size = '128Mi', modes = ['ReadWriteOnce'], ...spec } = more as { size?: string; modes?: string[] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: {
      storageClassName: storageClass,
      accessModes: modes,
      resources: { requests: { storage: size } },
      ...spec,
    },
  };
}

export interface PodOptions {
  /** The claim that it uses. */
  readonly claim?: string;
  /** Instead of a claim: any volume source. */
  readonly volume?: Json;
  readonly mount?: Json;
  readonly block?: boolean;
  readonly spec?: Json;
}

/** A pod that sleeps, with one volume at /data (or /dev/data). */
export function pod(name: string, { claim: claimName, volume, mount, block, spec }: PodOptions): Json {
  const use = block
    ? { volumeDevices: [{ name: 'data', devicePath: '/dev/data' }] }
    : { volumeMounts: [{ name: 'data', mountPath: '/data', ...mount }] };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [{ name: 'app', image: 'busybox:1.36', command: ['sleep', '100000'], ...use }],
      volumes: [{ name: 'data', ...(volume ?? { persistentVolumeClaim: { claimName } }) }],
      ...spec,
    },
  };
}

export const yaml = (...objects: readonly Json[]): string =>
  objects.map((object) => JSON.stringify(object)).join('\n---\n');
