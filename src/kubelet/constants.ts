/** Every duration of the kubelet's volume manager and of the controllers around it, in milliseconds. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** pkg/kubelet/volumemanager/volume_manager.go. Populator and reconciler have loops of the same period. */
export const RECONCILER_LOOP_MS = 100;
/** How often a pod worker looks whether its volumes are there, and for how long. */
export const POD_ATTACH_AND_MOUNT_RETRY_MS = 300;
export const POD_ATTACH_AND_MOUNT_TIMEOUT_MS = 2 * MINUTE + 3 * SECOND;

/** pkg/volume/csi: one context for all calls of a step, those for capabilities among them. */
export const CSI_TIMEOUT_MS = 2 * MINUTE;

/** pkg/util/goroutinemap/exponentialbackoff: no jitter. */
export const INITIAL_BACKOFF_MS = 500;
export const MAX_BACKOFF_MS = 2 * MINUTE + 2 * SECOND;

/** pkg/kubelet/pod_workers.go: each is drawn between the value and one and a half of it. */
export const POD_SYNC_MS = MINUTE;
export const POD_SYNC_BACKOFF_MS = 10 * SECOND;
export const POD_SYNC_JITTER = 0.5;

/** volumesInUse is published with the node's status, never sooner. */
export const NODE_STATUS_UPDATE_MS = 10 * SECOND;
export const NODE_STATUS_JITTER = 0.04;

/**
 * From when a pod is deleted until it is terminated, whether or not it ever ran. pkg/kubelet/pod_workers.go waits for a look at
 * the runtime (PLEG, each second) that is newer than its last sync; then containers have their grace period. Measured on a
 * kubelet 1.36 with a grace period of one second: NodeUnpublishVolume comes 2.5 s to 4.5 s after `kubectl delete`, mostly
 * 2.5 s; a volume whose stage fails is tried on for 2 s and let go within half a second after that.
 */
export const POD_TERMINATION_MS = 2_500;

export const HOUSEKEEPING_MS = 2 * SECOND;
/** SyncTerminatedPod looks for ever whether the pod's volumes are still there. */
export const VOLUMES_GONE_POLL_MS = 100;
/** Between the value and twice of it, for each pod. */
export const VOLUME_STATS_MS = MINUTE;

/** pkg/controller/volume/attachdetach. */
export const ATTACH_DETACH_LOOP_MS = 100;
export const MAX_WAIT_FOR_UNMOUNT_MS = 6 * MINUTE;
export const VOLUME_ATTACHMENT_WAIT_MS = 2 * MINUTE;

/** pkg/kubelet/pluginmanager. */
export const PLUGIN_MANAGER_LOOP_MS = SECOND;
export const PLUGIN_DIAL_TIMEOUT_MS = 10 * SECOND;
export const PLUGIN_GET_INFO_TIMEOUT_MS = SECOND;
export const PLUGIN_NOTIFY_TIMEOUT_MS = 5 * SECOND;

/** Defaults of external-provisioner, external-attacher and external-resizer: `--timeout` and the pauses of retries. */
export const PROVISIONER_TIMEOUT_MS = 10 * SECOND;
export const ATTACHER_TIMEOUT_MS = 15 * SECOND;
export const RESIZER_TIMEOUT_MS = 10 * SECOND;
export const SIDECAR_RETRY_START_MS = SECOND;
export const SIDECAR_RETRY_MAX_MS = 5 * MINUTE;

/** A node whose kubelet is silent for so long is not ready (node-monitor-grace-period). */
export const NODE_MONITOR_GRACE_MS = 50 * SECOND;
