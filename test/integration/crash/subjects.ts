import * as fs from 'node:fs/promises';
import { idFor } from '../../../src/util/keys';
import type { Kind } from '../../support/kinds';
import type { DriverLike } from '../../support/lifecycle';
import { type Subject, snapshotIdOf } from './moves';

/** A volume that a scenario can be played with; nothing of it exists yet but the folders of the CO. */
export async function subjectOf(driver: DriverLike, kind: Kind, prefix: string): Promise<Subject> {
  const name = `${prefix}-${kind.name}`;
  return {
    kind,
    name,
    mark: undefined,
    snapshotId: snapshotIdOf(name),
    groupId: idFor('group', name),
    used: {
      id: '',
      staging: await driver.folder(`${name}-staging`),
      target: await driver.target(name),
      publishContext: {},
      capability: kind.options().capability ?? {},
    },
  };
}

/** What a data folder holds when everything has been removed: nothing but what a process needs to be there. */
export async function leftIn(dataDir: string): Promise<string[]> {
  const names = await fs.readdir(dataDir, { recursive: true });
  return names.filter(
    (name) =>
      !/^(control|journal|locks|cache|scenarios|volumes|snapshots|groups|undo|nodes(\/node-1(\/(node\.json|stages|publications|undo|mounts))?)?)$/.test(
        name,
      ) && !/^(control|journal|locks|scenarios)\//.test(name),
  );
}
