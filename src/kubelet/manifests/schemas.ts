import { z } from 'zod';
import { ACCESS_MODES } from '../objects';

/** Of what a rehearsal reads, field by field. What has no bearing on volumes may be anything. */

const any = z.unknown().optional();
const name = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'expected lower-case letters, digits, dashes and dots');
const texts = z.record(z.string(), z.string());
const flag = z.boolean();

/** Those that everything of its kind has, and that are simulated. */
const KNOWN_FINALIZERS = ['kubernetes.io/pvc-protection', 'kubernetes.io/pv-protection'] as const;

const metadata = z.strictObject({
  name: name.optional(),
  namespace: name.optional(),
  uid: z.string().min(1).optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
  creationTimestamp: any,
  // As `kubectl get -o yaml` has them.
  resourceVersion: any,
  generation: any,
  managedFields: any,
  selfLink: any,
  finalizers: z.array(z.enum(KNOWN_FINALIZERS)).optional(),
});
const named = metadata.extend({ name });
const reference = z.strictObject({ name, namespace: name.default('default') });
const localReference = z.strictObject({ name });
const quantity = z.union([z.string(), z.number()]);

const container = z.strictObject({
  name,
  image: any,
  command: any,
  args: any,
  env: any,
  envFrom: any,
  ports: any,
  resources: any,
  imagePullPolicy: any,
  livenessProbe: any,
  readinessProbe: any,
  startupProbe: any,
  lifecycle: any,
  securityContext: any,
  terminationMessagePath: any,
  terminationMessagePolicy: any,
  workingDir: any,
  tty: any,
  stdin: any,
  volumeMounts: z
    .array(
      z.strictObject({
        name,
        mountPath: z.string(),
        readOnly: flag.optional(),
        subPath: z.string().optional(),
        mountPropagation: any,
        recursiveReadOnly: any,
      }),
    )
    .optional(),
  volumeDevices: z.array(z.strictObject({ name, devicePath: z.string() })).optional(),
});

const otherVolume = {
  emptyDir: any,
  configMap: any,
  secret: any,
  projected: any,
  downwardAPI: any,
  hostPath: any,
  nfs: any,
};

const claimSpec = z.strictObject({
  storageClassName: z.string().optional(),
  accessModes: z.array(z.enum(ACCESS_MODES)).min(1),
  volumeMode: z.enum(['Filesystem', 'Block']).default('Filesystem'),
  volumeName: name.optional(),
  resources: z.strictObject({ requests: z.strictObject({ storage: quantity }) }),
});

const podVolume = z.strictObject({
  name,
  persistentVolumeClaim: z.strictObject({ claimName: name, readOnly: flag.default(false) }).optional(),
  csi: z
    .strictObject({
      driver: z.string().min(1),
      fsType: z.string().default(''),
      readOnly: flag.default(false),
      volumeAttributes: texts.default({}),
      nodePublishSecretRef: localReference.optional(),
    })
    .optional(),
  ephemeral: z
    .strictObject({
      volumeClaimTemplate: z.strictObject({
        metadata: metadata.optional(),
        spec: claimSpec.omit({ volumeName: true }),
      }),
    })
    .optional(),
  ...otherVolume,
});

const podSpec = z.strictObject({
  nodeName: name.optional(),
  serviceAccountName: name.default('default'),
  restartPolicy: z.enum(['Always', 'OnFailure', 'Never']).default('Always'),
  securityContext: z
    .strictObject({
      fsGroup: z.number().int().min(0).optional(),
      fsGroupChangePolicy: z.enum(['Always', 'OnRootMismatch']).default('Always'),
      runAsUser: any,
      runAsGroup: any,
      runAsNonRoot: any,
      supplementalGroups: any,
      seccompProfile: any,
      sysctls: any,
    })
    .optional(),
  containers: z.array(container).min(1),
  initContainers: z.array(container).optional(),
  volumes: z.array(podVolume).default([]),
  automountServiceAccountToken: any,
  enableServiceLinks: any,
  terminationGracePeriodSeconds: any,
  activeDeadlineSeconds: any,
  dnsPolicy: any,
  hostNetwork: any,
  hostname: any,
  subdomain: any,
  imagePullSecrets: any,
  priorityClassName: any,
  schedulerName: any,
  tolerations: any,
  hostPID: any,
  hostIPC: any,
  hostAliases: any,
  dnsConfig: any,
  shareProcessNamespace: any,
  priority: any,
  preemptionPolicy: any,
  runtimeClassName: any,
  readinessGates: any,
  setHostnameAsFQDN: any,
});

const head = <K extends string>(kind: K, apiVersion: string) => ({
  apiVersion: z.literal(apiVersion),
  kind: z.literal(kind),
});

const attachmentError = z.strictObject({
  message: z.string(),
  time: any,
  errorCode: z.number().int().optional(),
});

export const schemas = {
  Pod: z.strictObject({ ...head('Pod', 'v1'), metadata: named, spec: podSpec, status: any }),
  PersistentVolumeClaim: z.strictObject({
    ...head('PersistentVolumeClaim', 'v1'),
    metadata: named,
    spec: claimSpec,
    status: any,
  }),
  PersistentVolume: z.strictObject({
    ...head('PersistentVolume', 'v1'),
    metadata: named,
    status: any,
    spec: z.strictObject({
      capacity: z.strictObject({ storage: quantity }),
      accessModes: z.array(z.enum(ACCESS_MODES)).min(1),
      volumeMode: z.enum(['Filesystem', 'Block']).default('Filesystem'),
      mountOptions: z.array(z.string()).default([]),
      storageClassName: z.string().optional(),
      persistentVolumeReclaimPolicy: z.enum(['Delete', 'Retain']).default('Retain'),
      claimRef: z
        .strictObject({
          apiVersion: any,
          kind: any,
          name,
          namespace: name.default('default'),
          uid: any,
          resourceVersion: any,
        })
        .optional(),
      nodeAffinity: z
        .strictObject({
          required: z.strictObject({
            nodeSelectorTerms: z
              .array(
                z.strictObject({
                  matchExpressions: z
                    .array(
                      z.strictObject({
                        key: z.string().min(1),
                        operator: z.literal('In'),
                        values: z.array(z.string()).min(1),
                      }),
                    )
                    .min(1),
                }),
              )
              .min(1),
          }),
        })
        .optional(),
      csi: z.strictObject({
        driver: z.string().min(1),
        volumeHandle: z.string().min(1),
        fsType: z.string().default(''),
        readOnly: flag.default(false),
        volumeAttributes: texts.default({}),
        controllerPublishSecretRef: reference.optional(),
        controllerExpandSecretRef: reference.optional(),
        nodeStageSecretRef: reference.optional(),
        nodePublishSecretRef: reference.optional(),
        nodeExpandSecretRef: reference.optional(),
      }),
    }),
  }),
  StorageClass: z.strictObject({
    ...head('StorageClass', 'storage.k8s.io/v1'),
    metadata: named,
    provisioner: z.string().min(1),
    parameters: texts.default({}),
    reclaimPolicy: z.enum(['Delete', 'Retain']).default('Delete'),
    volumeBindingMode: z.enum(['Immediate', 'WaitForFirstConsumer']).default('Immediate'),
    mountOptions: z.array(z.string()).default([]),
    allowVolumeExpansion: flag.default(false),
    allowedTopologies: z
      .array(
        z.strictObject({
          matchLabelExpressions: z
            .array(z.strictObject({ key: z.string().min(1), values: z.array(z.string()).min(1) }))
            .min(1),
        }),
      )
      .default([]),
  }),
  CSIDriver: z.strictObject({
    ...head('CSIDriver', 'storage.k8s.io/v1'),
    metadata: named,
    spec: z.strictObject({
      attachRequired: flag.default(true),
      podInfoOnMount: flag.default(false),
      fsGroupPolicy: z.enum(['ReadWriteOnceWithFSType', 'File', 'None']).default('ReadWriteOnceWithFSType'),
      volumeLifecycleModes: z.array(z.enum(['Persistent', 'Ephemeral'])).default(['Persistent']),
      requiresRepublish: flag.default(false),
      tokenRequests: z
        .array(
          z.strictObject({
            audience: z.string().default(''),
            expirationSeconds: z.number().int().min(600).default(3_600),
          }),
        )
        .default([]),
      serviceAccountTokenInSecrets: flag.default(false),
      nodeAllocatableUpdatePeriodSeconds: z.number().int().min(10).optional(),
      storageCapacity: flag.default(false),
      seLinuxMount: flag.default(false),
      /** Behind a gate that is off (VolumeLimitScaling, alpha): it has no effect. */
      preventPodSchedulingIfMissing: flag.optional(),
    }),
  }),
  VolumeAttachment: z.strictObject({
    ...head('VolumeAttachment', 'storage.k8s.io/v1'),
    metadata: named,
    spec: z.strictObject({
      attacher: z.string().min(1),
      nodeName: name,
      source: z.strictObject({ persistentVolumeName: name }),
    }),
    status: z
      .strictObject({
        attached: flag.default(false),
        attachmentMetadata: texts.default({}),
        attachError: attachmentError.optional(),
        detachError: attachmentError.optional(),
      })
      .optional(),
  }),
  Secret: z.strictObject({
    ...head('Secret', 'v1'),
    metadata: named,
    type: any,
    immutable: any,
    data: texts.optional(),
    stringData: texts.optional(),
  }),
  StatefulSet: z.strictObject({
    ...head('StatefulSet', 'apps/v1'),
    metadata: named,
    status: any,
    spec: z.strictObject({
      serviceName: any,
      selector: any,
      replicas: z.number().int().min(0).max(100).default(1),
      podManagementPolicy: any,
      updateStrategy: any,
      minReadySeconds: any,
      revisionHistoryLimit: any,
      persistentVolumeClaimRetentionPolicy: any,
      template: z.strictObject({ metadata: metadata.optional(), spec: podSpec }),
      volumeClaimTemplates: z
        .array(z.strictObject({ apiVersion: any, kind: any, metadata: named, spec: claimSpec, status: any }))
        .default([]),
    }),
  }),
};

/** Kinds that a manifest often has beside the others, and that no volume depends on: they are left out, and it is said. */
export const WITHOUT_BEARING: ReadonlySet<string> = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'ConfigMap',
  'Ingress',
  'Namespace',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'PriorityClass',
  'Role',
  'RoleBinding',
  'Service',
  'ServiceAccount',
]);

export type Kind = keyof typeof schemas;
export type ManifestOf<K extends Kind> = z.infer<(typeof schemas)[K]>;
export type PodSpec = ManifestOf<'Pod'>['spec'];
export type ClaimSpec = ManifestOf<'PersistentVolumeClaim'>['spec'];
