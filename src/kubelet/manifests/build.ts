import { formatQuantity, parseQuantity } from '../../util/quantity';
import type { ApiServer } from '../api-server';
import {
  keyOfObject,
  type ManifestObject,
  type ObjectMeta,
  type PersistentVolumeClaim,
  type Pod,
} from '../objects';
import { type ManifestProblem, ManifestProblems } from './problems';
import type { Manifest, Path } from './read';
import type { ClaimSpec, PodSpec } from './schemas';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

type Report = (path: Path, message: string) => void;
type GivenMeta = { name: string; namespace?: string | undefined; uid?: string | undefined };
type UidOf = (what: string) => string;

/**
 * The objects of manifests, as an API server would have them after `kubectl apply`, in the order of the files. A
 * StatefulSet is its pods and their claims.
 * @throws ManifestProblems with what does not fit together
 */
export function buildObjects(manifests: readonly Manifest[], api: ApiServer): ManifestObject[] {
  const problems: ManifestProblem[] = [];
  const objects: ManifestObject[] = [];
  const seen = new Set<string>();
  for (const manifest of manifests) {
    const report: Report = (path, message) => problems.push(manifest.at(path, message));
    for (const object of objectsOf(manifest, (what) => api.uid(what), report)) {
      const key = `${object.kind} ${keyOfObject(object.meta)}`;
      if (seen.has(key)) report(['metadata', 'name'], `${key} is there twice: rename one`);
      seen.add(key);
      objects.push(object);
    }
  }
  if (problems.length > 0) throw new ManifestProblems(problems);
  return objects;
}

function objectsOf(entry: Manifest, uidOf: UidOf, report: Report): ManifestObject[] {
  const meta = (given: GivenMeta, namespaced: boolean): ObjectMeta => {
    const namespace = namespaced ? (given.namespace ?? 'default') : '';
    return {
      name: given.name,
      namespace,
      uid: given.uid ?? uidOf(`${entry.kind} ${namespace}/${given.name}`),
    };
  };
  switch (entry.kind) {
    case 'Pod':
      return [pod(meta(entry.manifest.metadata, true), entry.manifest.spec, ['spec'], report)];
    case 'PersistentVolumeClaim':
      return [claim(meta(entry.manifest.metadata, true), entry.manifest.spec, ['spec'], report)];
    case 'PersistentVolume': {
      const { spec, metadata } = entry.manifest;
      const { csi } = spec;
      if (spec.volumeMode === 'Block') report(['spec', 'volumeMode'], NO_BLOCK);
      return [
        {
          kind: 'PersistentVolume',
          meta: meta(metadata, false),
          driver: csi.driver,
          volumeHandle: csi.volumeHandle,
          fsType: csi.fsType,
          readOnly: csi.readOnly,
          volumeAttributes: csi.volumeAttributes,
          accessModes: spec.accessModes,
          volumeMode: spec.volumeMode,
          mountOptions: spec.mountOptions,
          storageClassName: spec.storageClassName || undefined,
          reclaimPolicy: spec.persistentVolumeReclaimPolicy,
          secrets: {
            ...(csi.controllerPublishSecretRef && { controllerPublish: csi.controllerPublishSecretRef }),
            ...(csi.controllerExpandSecretRef && { controllerExpand: csi.controllerExpandSecretRef }),
            ...(csi.nodeStageSecretRef && { nodeStage: csi.nodeStageSecretRef }),
            ...(csi.nodePublishSecretRef && { nodePublish: csi.nodePublishSecretRef }),
            ...(csi.nodeExpandSecretRef && { nodeExpand: csi.nodeExpandSecretRef }),
          },
          provisioned: false,
          capacityBytes: bytes(spec.capacity.storage, ['spec', 'capacity', 'storage'], report),
          phase: 'Available',
          claim: spec.claimRef && `${spec.claimRef.namespace}/${spec.claimRef.name}`,
        },
      ];
    }
    case 'StorageClass': {
      const { manifest } = entry;
      return [
        {
          kind: 'StorageClass',
          meta: meta(manifest.metadata, false),
          provisioner: manifest.provisioner,
          parameters: manifest.parameters,
          reclaimPolicy: manifest.reclaimPolicy,
          bindingMode: manifest.volumeBindingMode,
          mountOptions: manifest.mountOptions,
          allowVolumeExpansion: manifest.allowVolumeExpansion,
          isDefault: manifest.metadata.annotations?.[DEFAULT_CLASS] === 'true',
        },
      ];
    }
    case 'CSIDriver': {
      const { spec, metadata } = entry.manifest;
      return [
        {
          kind: 'CSIDriver',
          meta: meta(metadata, false),
          attachRequired: spec.attachRequired,
          podInfoOnMount: spec.podInfoOnMount,
          fsGroupPolicy: spec.fsGroupPolicy,
          volumeLifecycleModes: spec.volumeLifecycleModes,
          requiresRepublish: spec.requiresRepublish,
          nodeAllocatableUpdatePeriodSeconds: spec.nodeAllocatableUpdatePeriodSeconds,
        },
      ];
    }
    case 'Secret': {
      const { metadata, data = {}, stringData = {} } = entry.manifest;
      const decoded = Object.entries(data).map(([key, value]) => [
        key,
        Buffer.from(value, 'base64').toString(),
      ]);
      return [
        {
          kind: 'Secret',
          meta: meta(metadata, true),
          data: { ...Object.fromEntries(decoded), ...stringData },
        },
      ];
    }
    case 'StatefulSet': {
      const { spec, metadata } = entry.manifest;
      const namespace = metadata.namespace ?? 'default';
      const named = (kind: string, name: string): ObjectMeta => ({
        name,
        namespace,
        uid: uidOf(`${kind} ${namespace}/${name}`),
      });
      const templates = spec.volumeClaimTemplates;
      return Array.from({ length: spec.replicas }, (_, index) => `${metadata.name}-${index}`).flatMap(
        (name) => {
          const claims = templates.map((template, at) =>
            claim(
              named('PersistentVolumeClaim', `${template.metadata.name}-${name}`),
              template.spec,
              ['spec', 'volumeClaimTemplates', at, 'spec'],
              report,
            ),
          );
          const own = templates.map((template) => ({
            name: template.metadata.name,
            persistentVolumeClaim: { claimName: `${template.metadata.name}-${name}`, readOnly: false },
          }));
          const volumes = [...own, ...spec.template.spec.volumes];
          return [
            ...claims,
            pod(named('Pod', name), { ...spec.template.spec, volumes }, ['spec', 'template', 'spec'], report),
          ];
        },
      );
    }
  }
}

const NO_BLOCK = 'raw block volumes are not rehearsed yet: a rehearsal knows volumeMode Filesystem';

function pod(meta: ObjectMeta, spec: PodSpec, path: Path, report: Report): Pod {
  const names = new Set(spec.volumes.map(({ name }) => name));
  for (const [index, { volumeMounts = [] }] of spec.containers.entries())
    for (const [at, { name }] of volumeMounts.entries())
      if (!names.has(name))
        report(
          [...path, 'containers', index, 'volumeMounts', at, 'name'],
          `expected one of spec.volumes (${[...names].join(', ') || 'there are none'}), found ${JSON.stringify(name)}`,
        );
  return {
    kind: 'Pod',
    meta,
    volumes: spec.volumes.map(({ name, persistentVolumeClaim, csi }) => ({
      name,
      claim: persistentVolumeClaim,
      csi: csi && { ...csi, nodePublishSecretRef: csi.nodePublishSecretRef?.name },
    })),
    fsGroup: spec.securityContext?.fsGroup,
    fsGroupChangePolicy: spec.securityContext?.fsGroupChangePolicy ?? 'Always',
    serviceAccountName: spec.serviceAccountName,
    restartPolicy: spec.restartPolicy,
    nodeName: spec.nodeName,
    phase: 'Pending',
    reason: undefined,
    containersRunning: false,
    deletionTimestamp: undefined,
  };
}

function claim(meta: ObjectMeta, spec: ClaimSpec, path: Path, report: Report): PersistentVolumeClaim {
  if (spec.volumeMode === 'Block') report([...path, 'volumeMode'], NO_BLOCK);
  return {
    kind: 'PersistentVolumeClaim',
    meta,
    storageClassName: spec.storageClassName,
    accessModes: spec.accessModes,
    volumeMode: spec.volumeMode,
    volumeName: spec.volumeName,
    requestBytes: bytes(
      spec.resources.requests.storage,
      [...path, 'resources', 'requests', 'storage'],
      report,
    ),
    phase: 'Pending',
    capacityBytes: undefined,
    allocatedBytes: undefined,
    resizeStatus: undefined,
    selectedNode: undefined,
    deletionTimestamp: undefined,
  };
}

function bytes(value: string | number, path: Path, report: Report): bigint {
  const read = parseQuantity(String(value));
  if (read !== undefined && read > 0n) return read;
  report(
    path,
    `expected a quantity such as ${formatQuantity(10n * 1024n ** 3n)}, found ${JSON.stringify(value)}`,
  );
  return 0n;
}
