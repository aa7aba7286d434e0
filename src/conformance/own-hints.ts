import type { Hints } from './hints';

/** What our own driver can be told, for `--hints fake-csi`: its parameters (docs/options.md). */
export const ownHints: Hints = {
  mutableParameters: { readAheadKiB: '128', deletionProtection: 'false' },
  modifiedParameters: { readAheadKiB: '64' },
  unsupportedParameters: { 'no-such-parameter': 'x' },
  ungroupableVolume: { groupable: 'false' },
  slowSnapshot: { readyAfter: '2s' },
  dependentSnapshot: { dependent: 'true' },
  untrackedSnapshot: { trackBlocks: 'false' },
};

/** The same with the scenario of `ownScenario` loaded. */
export const ownHintsWithScenario: Hints = {
  ...ownHints,
  slowVolume: { scenario: 'conformance-slow' },
  failingPublish: { scenario: 'conformance-publish-fails' },
  failingStream: { max_results: 4321 },
};

/** What makes our own driver slow, or fail half-way. The first two act on volumes that name them. */
export const ownScenario = `apiVersion: fake-csi/v1
kind: Scenario
metadata: {name: conformance-slow}
spec:
  enabled: false
  rules:
    - match: {rpc: [NodeStageVolume, NodePublishVolume]}
      then: [{delay: 2s}]
---
apiVersion: fake-csi/v1
kind: Scenario
metadata: {name: conformance-publish-fails}
spec:
  enabled: false
  rules:
    - match: {rpc: NodePublishVolume}
      then: [{at: mounted, error: {code: INTERNAL, message: failed half-way}}]
---
apiVersion: fake-csi/v1
kind: Scenario
metadata: {name: conformance-stream-fails}
spec:
  rules:
    - match: {rpc: GetMetadataAllocated, where: request.max_results == 4321}
      then: [{at: after, error: {code: UNAVAILABLE, message: failed in the middle}}]
`;
