/** How a CO calls: its deadline, its first pause after a failure, and the longest one, in milliseconds. */
export interface Patience {
  deadlineMs: number;
  firstMs: number;
  longestMs: number;
}

/** Of pkg/volume/csi (csiTimeout) and of the kubelet's exponential backoff per operation. */
export const KUBELET: Patience = { deadlineMs: 120_000, firstMs: 500, longestMs: 122_000 };
/** Defaults of external-attacher: --timeout, --retry-interval-start, --retry-interval-max. */
export const ATTACHER: Patience = { deadlineMs: 15_000, firstMs: 1_000, longestMs: 300_000 };
/** Defaults of external-provisioner, external-resizer and external-snapshotter differ in seconds only. */
export const SIDECAR: Patience = { deadlineMs: 10_000, firstMs: 1_000, longestMs: 300_000 };
