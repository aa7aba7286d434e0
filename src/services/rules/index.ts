import type { IdentityRpcs, Method, RegistrationRpcs, RequestOf, Rpcs } from '../../csi/rpcs';
import { anything, type RuleConfig } from './check';
import { controllerRules } from './controller';
import { groupControllerRules } from './group';
import { snapshotMetadataRules } from './metadata';
import { nodeRules } from './node';
import type { RuleTable } from './table';

export type { RuleConfig } from './check';

const identityRules: RuleTable<IdentityRpcs> = {
  GetPluginInfo: anything,
  GetPluginCapabilities: anything,
  Probe: anything,
};

const registrationRules: RuleTable<RegistrationRpcs> = {
  GetInfo: anything,
  NotifyRegistrationStatus: anything,
};

const rules: RuleTable<Rpcs> = {
  ...registrationRules,
  ...identityRules,
  ...controllerRules,
  ...groupControllerRules,
  ...snapshotMetadataRules,
  ...nodeRules,
};

/**
 * What the specification says about a request's fields without looking at any volume: required fields, sizes and
 * formats (Size Limits, field comments), and fields that need a capability. Whether the RPC itself is advertised
 * comes before (closedGate), whether the volume exists comes after.
 * @throws CsiError INVALID_ARGUMENT; OUT_OF_RANGE for a capacity limit below the requirement and for a negative
 * starting_offset. The message names field, expectation and finding, never the value of a secret or a mount flag.
 */
export function validateRequest<M extends Method>(
  method: M,
  request: RequestOf<M>,
  config: RuleConfig,
): void {
  rules[method](request, '', config);
}
