import type { CapabilityKind } from '../csi/capabilities';
import { CAPABILITIES } from './capabilities';
import type { Env, Handler } from './env';

function rpcCapabilities(env: Env, kind: CapabilityKind): { rpc: { type: never } }[] {
  return [...env.settings.capabilities[kind]].map((name) => ({
    rpc: { type: CAPABILITIES[kind][name] as never },
  }));
}

export const controllerGetCapabilities: Handler<'ControllerGetCapabilities'> = async (env) => ({
  capabilities: rpcCapabilities(env, 'controller'),
});

export const nodeGetCapabilities: Handler<'NodeGetCapabilities'> = async (env) => ({
  capabilities: rpcCapabilities(env, 'node'),
});

export const groupControllerGetCapabilities: Handler<'GroupControllerGetCapabilities'> = async (env) => ({
  capabilities: rpcCapabilities(env, 'group'),
});
