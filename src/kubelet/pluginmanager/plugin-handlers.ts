import type { CsiPlugin } from './csi-plugin';

/** What a kubelet does with plugins of one type (pkg/kubelet/pluginmanager/cache, PluginHandler). */
export interface PluginHandler {
  /** @throws Error in the kubelet's words */
  validatePlugin(name: string, endpoint: string, versions: readonly string[]): void;
  /** @throws Error in the kubelet's words */
  registerPlugin(name: string, endpoint: string, versions: readonly string[]): Promise<void>;
  deregisterPlugin(name: string): void;
}

/** By the type that a plugin says in GetInfo. */
export type PluginHandlers = ReadonlyMap<string, PluginHandler>;

/** @param handlesDra DynamicResourceAllocation is on */
export function pluginHandlers(
  csi: CsiPlugin,
  { handlesDra }: { readonly handlesDra: boolean },
): PluginHandlers {
  return new Map<string, PluginHandler>([
    ['CSIPlugin', csi],
    ['DevicePlugin', refusing(devicePluginRefusal)],
    ...(handlesDra ? ([['DRAPlugin', refusing(draPluginRefusal)]] as const) : []),
  ]);
}

/** Validates, and has no more to do: nobody asks such a plugin for volumes. */
function refusing(
  refusalOf: (name: string, endpoint: string, versions: readonly string[]) => string | undefined,
): PluginHandler {
  return {
    validatePlugin(name, endpoint, versions) {
      const refusal = refusalOf(name, endpoint, versions);
      if (refusal !== undefined) throw new Error(refusal);
    },
    registerPlugin: async () => undefined,
    deregisterPlugin: () => undefined,
  };
}

const DEVICE_PLUGIN_VERSION = 'v1beta1';

/** Of a CSI driver always: its name is none of a resource, which have a `/`. */
function devicePluginRefusal(name: string, _endpoint: string, versions: readonly string[]): string {
  if (versions.includes(DEVICE_PLUGIN_VERSION))
    return `invalid name of device plugin socket: the ResourceName "${name}" is invalid`;
  return `manager version, ${DEVICE_PLUGIN_VERSION}, is not among plugin supported versions [${versions.join(' ')}]`;
}

const DRA_SERVICES = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'];

/** The versions of a DRA plugin are the services that it serves. */
function draPluginRefusal(name: string, endpoint: string, services: readonly string[]): string | undefined {
  if (services.some((service) => DRA_SERVICES.includes(service))) return undefined;
  const listed = (all: readonly string[]) => `[${all.map((one) => JSON.stringify(one)).join(' ')}]`;
  const why =
    services.length === 0
      ? 'empty list of supported gRPC services (aka supported versions)'
      : `none of services supported by the plugin (${listed(services)}) are supported by the kubelet (${listed(DRA_SERVICES)})`;
  return `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${why}`;
}
