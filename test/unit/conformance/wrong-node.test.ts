import { findsEach } from './judge';
import { nodeMutations } from './mutations/node';

findsEach(nodeMutations);
