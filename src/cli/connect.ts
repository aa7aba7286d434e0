import type { Options } from 'yargs';
import type { ControlClient } from '../control/client';
import { dataDirOf } from './data-dir';

/** How every command finds its driver, and how it answers. */
export interface DriverArguments {
  dataDir?: string | undefined;
  control?: string | undefined;
  json?: boolean | undefined;
}

export const driverOptions: Record<string, Options> = {
  'data-dir': {
    type: 'string',
    describe:
      'Data folder of the driver [$FAKE_CSI_DATA_DIR, then ./.fake-csi in a checkout, /var/lib/fake-csi elsewhere]',
  },
  control: {
    type: 'string',
    describe:
      'Its control API: a socket, or http://127.0.0.1:PORT with $FAKE_CSI_CONTROL_TOKEN [the data folder tells]',
  },
  json: { type: 'boolean', default: false, describe: 'JSON for programs' },
};

/** @throws ControlError when no driver answers there. */
export async function connect(args: DriverArguments): Promise<ControlClient> {
  const { connectControl, findControlSocket } =
    require('../control/client') as typeof import('../control/client');
  const named = args.control ?? process.env.FAKE_CSI_CONTROL;
  if (named !== undefined && /^https?:/.test(named))
    return connectControl({ url: named, token: process.env.FAKE_CSI_CONTROL_TOKEN });
  const socket = named?.replace(/^unix:(\/\/)?/, '') ?? (await findControlSocket(dataDirOf(args.dataDir)));
  return connectControl({ socket });
}
