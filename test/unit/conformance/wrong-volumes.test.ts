import { findsEach } from './judge';
import { anyMutations } from './mutations/any';
import { volumeMutations } from './mutations/create-volume';
import { identityMutations } from './mutations/identity';

findsEach([...anyMutations, ...identityMutations, ...volumeMutations]);
