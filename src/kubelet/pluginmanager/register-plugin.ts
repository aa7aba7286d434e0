import type { Clock } from '../../util/clock';
import { PLUGIN_GET_INFO_TIMEOUT_MS, PLUGIN_NOTIFY_TIMEOUT_MS } from '../constants';
import type { CsiCalls } from '../csi/calls';
import { rpcErrorText } from '../errors';
import { dial } from './dial';
import type { PluginHandler, PluginHandlers } from './plugin-handlers';
import type { PluginSocket, PluginsFolder } from './plugins-folder';

/** A plugin that is registered, as far as the kubelet knows. */
export interface RegisteredPlugin {
  readonly socket: PluginSocket;
  readonly name: string;
  readonly handler: PluginHandler;
}

export interface RegisterOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly folder: PluginsFolder;
  /** On the plugin's registration socket. */
  readonly calls: CsiCalls;
  readonly handlers: PluginHandlers;
  /** A registration that failed is forgotten, so that it will be tried again (k/k#127108). */
  readonly forgetsFailed: boolean;
  add(plugin: RegisteredPlugin): void;
  remove(plugin: RegisteredPlugin): void;
}

/** Asks a plugin who it is, makes it known, and tells it (pkg/kubelet/pluginmanager/operationexecutor). @throws Error in the kubelet's words */
export async function registerPlugin(options: RegisterOptions, socket: PluginSocket): Promise<void> {
  const { clock, signal, folder, calls, handlers, forgetsFailed } = options;
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
  const handler = handlers.get(type);
  if (!handler) return refuseFirst(`no handler registered for plugin type: ${type} at socket ${path}`);
  const endpoint = info.endpoint === '' ? path : info.endpoint;
  try {
    handler.validatePlugin(name, endpoint, versions);
  } catch (error) {
    return refuseFirst(`plugin validation failed with err: ${(error as Error).message}`);
  }
  const plugin: RegisteredPlugin = { socket, name, handler };
  // Before its handler is asked: a socket that goes meanwhile is de-registered.
  options.add(plugin);
  try {
    await handler.registerPlugin(name, endpoint, versions);
  } catch (error) {
    signal.throwIfAborted();
    if (forgetsFailed) options.remove(plugin);
    return refuse(`RegisterPlugin error -- plugin registration failed with err: ${rpcErrorText(error)}`);
  }
  await notify('').catch((error: unknown) => {
    const told = failed(`failed to send registration status at socket ${path}, err: : `, error);
    if (forgetsFailed) {
      options.remove(plugin);
      handler.deregisterPlugin(name);
    }
    throw told;
  });
}

/** The last part of a path. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
