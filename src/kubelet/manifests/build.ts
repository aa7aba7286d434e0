import { formatQuantity, parseQuantity } from '../../util/quantity';
import type { ApiServer } from '../api-server';
import {
  type ClaimTemplate,
  keyOfObject,
  type LabelTerm,
  type ManifestObject,
  newClaim,
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
 * StatefulSet is its pods and their claims. `note` hears of what is there and has no effect.
 * @throws ManifestProblems with what does not fit together
 */
export function buildObjects(
  manifests: readonly Manifest[],
  api: ApiServer,
  note: (text: string) => void,
): ManifestObject[] {
  const problems: ManifestProblem[] = [];
  const objects: ManifestObject[] = [];
  const seen = new Set<string>();
  for (const manifest of manifests) {
    const report: Report = (path, message) => problems.push(manifest.at(path, message));
    for (const text of withoutEffect(manifest)) note(text);
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

/** What is read and not played, in words. */
function withoutEffect(entry: Manifest): string[] {
  switch (entry.kind) {
    case 'LeftOut':
      return [`${entry.what} is left out: no volume depends on it`];
    case 'CSIDriver': {
      const { metadata, spec } = entry.manifest;
      const said = (field: string, what: string) =>
        `CSIDriver ${metadata.name}: spec.${field} has no effect: ${what}`;
      return [
        ...(spec.storageCapacity ? [said('storageCapacity', 'the scheduler does not look at capacity')] : []),
        ...(spec.seLinuxMount ? [said('seLinuxMount', 'nodes are without SELinux')] : []),
        ...(spec.preventPodSchedulingIfMissing
          ? [said('preventPodSchedulingIfMissing', 'its gate VolumeLimitScaling (alpha) is off')]
          : []),
      ];
    }
    default:
      return [];
  }
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
    case 'LeftOut':
      return [];
    case 'Pod':
      return [pod(meta(entry.manifest.metadata, true), entry.manifest.spec, ['spec'], report)];
    case 'PersistentVolumeClaim':
      return [claim(meta(entry.manifest.metadata, true), entry.manifest.spec, ['spec'], report)];
    case 'PersistentVolume': {
      const { spec, metadata } = entry.manifest;
      const { csi } = spec;
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
          nodeAffinity: (spec.nodeAffinity?.required.nodeSelectorTerms ?? []).map(({ matchExpressions }) =>
            labelTerm(matchExpressions),
          ),
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
          allowedTopologies: manifest.allowedTopologies.map(({ matchLabelExpressions }) =>
            labelTerm(matchLabelExpressions),
          ),
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
          tokenRequests: spec.tokenRequests,
          serviceAccountTokenInSecrets: spec.serviceAccountTokenInSecrets,
          nodeAllocatableUpdatePeriodSeconds: spec.nodeAllocatableUpdatePeriodSeconds,
        },
      ];
    }
    case 'VolumeAttachment': {
      const { metadata, spec, status } = entry.manifest;
      return [
        {
          kind: 'VolumeAttachment',
          meta: meta(metadata, false),
          attacher: spec.attacher,
          persistentVolumeName: spec.source.persistentVolumeName,
          nodeName: spec.nodeName,
          nodeId: undefined,
          attached: status?.attached ?? false,
          attachmentMetadata: status?.attachmentMetadata ?? {},
          attachError: status?.attachError?.message,
          attachErrorCode: status?.attachError?.errorCode,
          detachError: status?.detachError?.message,
          deletionTimestamp: undefined,
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

function pod(meta: ObjectMeta, spec: PodSpec, path: Path, report: Report): Pod {
  const names = new Set(spec.volumes.map(({ name }) => name));
  const check = (name: string, place: Path) => {
    if (names.has(name)) return;
    const known = [...names].join(', ') || 'there are none';
    report(
      [...path, ...place, 'name'],
      `expected one of spec.volumes (${known}), found ${JSON.stringify(name)}`,
    );
  };
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  for (const kind of ['initContainers', 'containers'] as const)
    for (const [index, { volumeMounts = [], volumeDevices = [] }] of (spec[kind] ?? []).entries()) {
      for (const [at, { name, subPath }] of volumeMounts.entries()) {
        const place = [kind, index, 'volumeMounts', at];
        check(name, place);
        // The API server refuses it before a kubelet could.
        if (subPath !== undefined && (subPath.startsWith('/') || subPath.split('/').includes('..')))
          report(
            [...path, ...place, 'subPath'],
            `subPath: expected a relative path without "..", found ${JSON.stringify(subPath)}`,
          );
      }
      for (const [at, { name }] of volumeDevices.entries()) check(name, [kind, index, 'volumeDevices', at]);
    }
  return {
    kind: 'Pod',
    meta,
    volumes: spec.volumes.map(({ name, persistentVolumeClaim, csi, ephemeral }, at) => ({
      name,
      claim: ephemeral ? { claimName: `${meta.name}-${name}`, readOnly: false } : persistentVolumeClaim,
      template:
        ephemeral &&
        template(
          ephemeral.volumeClaimTemplate.spec,
          [...path, 'volumes', at, 'ephemeral', 'volumeClaimTemplate', 'spec'],
          report,
        ),
      csi: csi && { ...csi, nodePublishSecretRef: csi.nodePublishSecretRef?.name },
    })),
    containerMounts: containers.flatMap(({ name: container, volumeMounts = [] }) =>
      volumeMounts.map(({ name, subPath }, index) => ({
        container,
        index,
        volume: name,
        subPath: subPath || undefined,
      })),
    ),
    devices: new Set(containers.flatMap(({ volumeDevices = [] }) => volumeDevices.map(({ name }) => name))),
    fsGroup: spec.securityContext?.fsGroup,
    fsGroupChangePolicy: spec.securityContext?.fsGroupChangePolicy ?? 'Always',
    serviceAccountName: spec.serviceAccountName,
    restartPolicy: spec.restartPolicy,
    nodeName: spec.nodeName,
    phase: 'Pending',
    reason: undefined,
    containersRunning: false,
    terminated: false,
    deletionTimestamp: undefined,
  };
}

function claim(meta: ObjectMeta, spec: ClaimSpec, path: Path, report: Report): PersistentVolumeClaim {
  return newClaim(meta, template(spec, path, report), { volumeName: spec.volumeName });
}

/** Also of a generic ephemeral volume: that claim is made later, by a controller. `path` is where the spec stands. */
function template(
  { storageClassName, accessModes, volumeMode, resources }: Omit<ClaimSpec, 'volumeName'>,
  path: Path,
  report: Report,
): ClaimTemplate {
  const requestBytes = bytes(
    resources.requests.storage,
    [...path, 'resources', 'requests', 'storage'],
    report,
  );
  return { storageClassName, accessModes, volumeMode, requestBytes };
}

function labelTerm(expressions: readonly { key: string; values: readonly string[] }[]): LabelTerm {
  return Object.fromEntries(expressions.map(({ key, values }) => [key, values]));
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
