import { findsEach } from './judge';
import { furtherMutations } from './mutations/further';

findsEach(furtherMutations);
