import type { Argv } from 'yargs';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { print, printJson, table } from '../output';

interface Arguments extends DriverArguments {
  id?: string;
}

export const volumes: Command<Arguments> = {
  command: 'volumes [id]',
  describe: 'Show the volumes: where they are attached, staged and published',
  builder: (y: Argv) =>
    y.positional('id', { type: 'string', describe: 'One of them, whole' }).options(driverOptions),
  run: async (args) => {
    const client = await connect(args);
    if (args.id !== undefined) return printJson(await client.volume(args.id));
    const found = await client.volumes();
    if (args.json) return printJson(found);
    if (found.length === 0) return print('no volumes');
    const { formatQuantity } = require('../../util/quantity') as typeof import('../../util/quantity');
    print(
      table(
        ['ID', 'CLAIM', 'STATE', 'SIZE', 'BACKEND', 'FS', 'ATTACHED', 'TARGETS'],
        found.map((volume) => [
          volume.id,
          volume.pvc?.name === undefined ? '' : `${volume.pvc.namespace ?? ''}/${volume.pvc.name}`,
          volume.state,
          formatQuantity(BigInt(volume.capacityBytes)),
          volume.backend,
          volume.fsType,
          volume.attachedTo.join(' '),
          volume.targets.map(({ path, readOnly }) => `${path}${readOnly ? ' (ro)' : ''}`).join(' '),
        ]),
      ),
    );
  },
};
