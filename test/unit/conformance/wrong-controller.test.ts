import { findsEach } from './judge';
import { controllerMutations } from './mutations/controller';
import { snapshotMutations } from './mutations/snapshots';

findsEach([...controllerMutations, ...snapshotMutations]);
