import type { Clock } from '../../util/clock';
import { PLUGIN_GET_INFO_TIMEOUT_MS, PLUGIN_NOTIFY_TIMEOUT_MS } from '../constants';
import type { CsiCalls } from '../csi/calls';
import { rpcErrorText } from '../errors';
import type { CsiPlugin } from './csi-plugin';
import { dial } from './dial';
import type { PluginSocket, PluginsFolder } from './plugins-folder';

const CSI_PLUGIN = 'CSIPlugin';
const DEVICE_PLUGIN = 'DevicePlugin';
const DEVICE_PLUGIN_VERSION = 'v1beta1';

/** What the handler of device plugins says of a CSI driver: its name is none of a resource, which have a `/`. */
function devicePluginRefusal(name: string, versions: readonly string[]): string {
  if (versions.includes(DEVICE_PLUGIN_VERSION))
    return `invalid name of device plugin socket: the ResourceName "${name}" is invalid`;
  return `manager version, ${DEVICE_PLUGIN_VERSION}, is not among plugin supported versions [${versions.join(' ')}]`;
}

const DRA_PLUGIN = 'DRAPlugin';
const DRA_SERVICES = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'];

/** What the handler of DRA plugins says: their versions are the services that they serve. @returns undefined: it takes the plugin */
function draPluginRefusal(name: string, endpoint: string, services: readonly string[]): string | undefined {
  if (services.some((service) => DRA_SERVICES.includes(service))) return undefined;
  const listed = (all: readonly string[]) => `[${all.map((one) => JSON.stringify(one)).join(' ')}]`;
  const why =
    services.length === 0
      ? 'empty list of supported gRPC services (aka supported versions)'
      : `none of services supported by the plugin (${listed(services)}) are supported by the kubelet (${listed(DRA_SERVICES)})`;
  return `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${why}`;
}

/** A plugin that is registered, as far as the kubelet knows. */
export interface RegisteredPlugin {
  readonly socket: PluginSocket;
  readonly name: string;
  readonly type: typeof CSI_PLUGIN | typeof DRA_PLUGIN;
}

export interface RegisterOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly folder: PluginsFolder;
  /** On the plugin's registration socket. */
  readonly calls: CsiCalls;
  readonly handler: CsiPlugin;
  /** A registration that failed is forgotten, so that it will be tried again (k/k#127108). */
  readonly forgetsFailed: boolean;
  /** Plugins of the type DRAPlugin have a handler, too. */
  readonly handlesDra: boolean;
  add(plugin: RegisteredPlugin): void;
  remove(plugin: RegisteredPlugin): void;
}

/** Asks a plugin who it is, makes it known, and tells it (pkg/kubelet/pluginmanager/operationexecutor). @throws Error in the kubelet's words */
export async function registerPlugin(options: RegisterOptions, socket: PluginSocket): Promise<void> {
  const { clock, signal, folder, calls, handler, forgetsFailed, handlesDra } = options;
  const { path } = socket;
  const failed = (what: string, error: unknown) => {
    signal.throwIfAborted();
    return new Error(`RegisterPlugin error -- ${what}${rpcErrorText(error)}`);
  };
  const context = (timeoutMs: number) => calls.context(timeoutMs, nameOf(path), path);
  const notify = (error: string) =>
    calls.call(
      'NotifyRegistrationStatus',
      { plugin_registered: error === '', error },
      context(PLUGIN_NOTIFY_TIMEOUT_MS),
    );
  /** @throws Error always: what is wrong, and that the plugin could not be told where it could not */
  const refuse = async (text: string): Promise<never> => {
    await notify(text).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new Error(`${text}: ${rpcErrorText(error)}`);
    });
    throw new Error(text);
  };
  await dial(folder, path, clock, signal).catch((error: unknown) => {
    throw failed(`dial failed at socket ${path}, err: `, error);
  });
  const info = await calls
    .call('GetInfo', {}, context(PLUGIN_GET_INFO_TIMEOUT_MS))
    .catch((error: unknown) => {
      throw failed(`failed to get plugin info using RPC GetInfo at socket ${path}, err: `, error);
    });
  const refuseFirst = (why: string) =>
    refuse(`RegisterPlugin error -- ${why}`).catch((error: unknown) => {
      throw failed(`failed to send error at socket ${path}, err: `, error);
    });
  const { type, name, supported_versions: versions } = info;
  const invalid = (why: string) => refuseFirst(`plugin validation failed with err: ${why}`);
  if (type === DEVICE_PLUGIN) return invalid(devicePluginRefusal(name, versions));
  const isDra = type === DRA_PLUGIN && handlesDra;
  if (type !== CSI_PLUGIN && !isDra)
    return refuseFirst(`no handler registered for plugin type: ${type} at socket ${path}`);
  const endpoint = info.endpoint === '' ? path : info.endpoint;
  try {
    if (!isDra) handler.validatePlugin(name, endpoint, versions);
  } catch (error) {
    return invalid((error as Error).message);
  }
  const refusal = isDra ? draPluginRefusal(name, endpoint, versions) : undefined;
  if (refusal !== undefined) return invalid(refusal);
  const plugin: RegisteredPlugin = { socket, name, type: isDra ? DRA_PLUGIN : CSI_PLUGIN };
  // Before its handler is asked: a socket that goes meanwhile is de-registered.
  options.add(plugin);
  try {
    // Nobody asks a DRA plugin for volumes: no CSI call is made, and no CSINode written.
    if (!isDra) await handler.registerPlugin(name, endpoint, versions);
  } catch (error) {
    signal.throwIfAborted();
    if (forgetsFailed) options.remove(plugin);
    return refuse(`RegisterPlugin error -- plugin registration failed with err: ${rpcErrorText(error)}`);
  }
  await notify('').catch((error: unknown) => {
    const told = failed(`failed to send registration status at socket ${path}, err: : `, error);
    if (forgetsFailed) {
      options.remove(plugin);
      if (!isDra) handler.deregisterPlugin(name);
    }
    throw told;
  });
}

/** The last part of a path. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
