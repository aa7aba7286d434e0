import * as fs from 'node:fs/promises';
import { failedPrecondition } from '../csi/status';
import { errnoOf } from '../util/files';
import { CAPABILITIES } from './capabilities';
import type { Handler } from './env';

export const getPluginInfo: Handler<'GetPluginInfo'> = async (env) => ({
  name: env.settings.driverName,
  vendor_version: env.settings.vendorVersion,
});

const EXPANSION_TYPES = new Set(['ONLINE', 'OFFLINE']);

export const getPluginCapabilities: Handler<'GetPluginCapabilities'> = async (env) => ({
  capabilities: [...env.settings.advertised.plugin].map((name) => {
    const type = CAPABILITIES.plugin[name] as never;
    return EXPANSION_TYPES.has(name) ? { volume_expansion: { type } } : { service: { type } };
  }),
});

/** Healthy means that the data folder can be written: without it no call that changes anything can succeed. */
export const probe: Handler<'Probe'> = async (env) => {
  try {
    await fs.access(env.layout.root, fs.constants.W_OK);
  } catch (error) {
    throw failedPrecondition(
      `the data folder ${env.layout.root} cannot be written (${errnoOf(error)}); bring it back, or restart with another --data-dir`,
    );
  }
  return { ready: { value: true } };
};
