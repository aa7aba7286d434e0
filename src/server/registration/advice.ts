/** Words of the kubelet (pkg/volume/csi, pkg/kubelet/pluginmanager), and what to do when it says them. */
const KNOWN: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /already registered with a higher supported version/,
    'another process registers a driver of this name on this node, by another socket: stop it, remove its socket from plugins_registry, or choose another --driver-name',
  ],
  [
    /no handler registered|plugin type/,
    'the answer to GetInfo named no type that this kubelet handles: look for a rule that changes it (fake-csi scenario list)',
  ],
  [
    /supported version|versions list|none of the.*versions/i,
    'the answer to GetInfo named no version that this kubelet takes: look for a rule that changes it (fake-csi scenario list)',
  ],
  [
    /topology value collision/,
    'the Node has the label already, with another value; a label stays when a driver is de-registered: remove it (kubectl label node NODE KEY-) or give --topology that value',
  ],
  [
    /node_?id|nodeid/i,
    'the answer to NodeGetInfo has no node id that the kubelet takes: look for a rule that changes it, and at --node-id',
  ],
  [
    /Unavailable|connection refused|no such file|connect:/i,
    'the kubelet does not reach the CSI socket at the path it was told: in a container, --kubelet-endpoint is the path on the host',
  ],
  [
    /DeadlineExceeded|deadline exceeded/i,
    'the answer came too late: the kubelet waits 1 s for GetInfo and 2 min for NodeGetInfo',
  ],
  [
    /CSINode/,
    "the kubelet could not write the CSINode object: its own log says why (the API server, or the node's name)",
  ],
];

const UNKNOWN = 'the log of the kubelet says more (journalctl -u kubelet)';

/** One line for a person about a refusal. */
export function adviceOn(error: string): string {
  return KNOWN.find(([pattern]) => pattern.test(error))?.[1] ?? UNKNOWN;
}
