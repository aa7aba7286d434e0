/** The kubelet's plugin manager has a handler per type; this is the one of CSI drivers. */
export const PLUGIN_TYPE = 'CSIPlugin';

/**
 * Versions of CSI, of which the kubelet looks at the highest with major 1 or less. The same as node-driver-registrar
 * says: a driver that is already registered is replaced only by a higher one, so that the two take turns as equals.
 */
export const SUPPORTED_VERSIONS: readonly string[] = ['1.0.0'];
