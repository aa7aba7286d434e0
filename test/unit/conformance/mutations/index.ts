import type { Mutation } from '../mutation';
import { anyMutations } from './any';
import { controllerMutations } from './controller';
import { volumeMutations } from './create-volume';
import { furtherMutations } from './further';
import { identityMutations } from './identity';
import { nodeMutations } from './node';
import { snapshotMutations } from './snapshots';

export const allMutations: readonly Mutation[] = [
  ...anyMutations,
  ...identityMutations,
  ...volumeMutations,
  ...controllerMutations,
  ...snapshotMutations,
  ...nodeMutations,
  ...furtherMutations,
];
