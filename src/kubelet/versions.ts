/** Kubelets whose behaviour is told apart; what lies between them behaves as the older one. */
export const KUBELET_VERSIONS = ['1.32', '1.36'] as const;
export type KubeletVersion = (typeof KUBELET_VERSIONS)[number];

/** Where the two differ as to CSI volumes. */
export interface Behaviour {
  /** A final error of NodePublishVolume removes the pod's vol_data.json also for a volume that was reconstructed. */
  readonly finalErrorDropsReconstructedJson: boolean;
  /** NodeGetCapabilities failing before NodeStageVolume is final whatever its code. */
  readonly capabilitiesErrorIsFinal: boolean;
  /** The global vol_data.json is written also for a driver without STAGE_UNSTAGE_VOLUME. */
  readonly globalJsonWithoutStaging: boolean;
  /** The kubelet itself tries again to register a driver whose registration failed. */
  readonly retriesRegistration: boolean;
  /** Plugins of the type DRAPlugin have a handler (DynamicResourceAllocation, on since 1.34). */
  readonly handlesDra: boolean;
  /** NodeGetInfo is asked again where CSIDriver.spec.nodeAllocatableUpdatePeriodSeconds says so. */
  readonly updatesAllocatable: boolean;
  /** A final error of a repeated NodePublishVolume (requiresRepublish) removes the target folder. */
  readonly failedRepublishRemovesTarget: boolean;
  /** CSIDriver.spec.serviceAccountTokenInSecrets moves tokens into secrets. */
  readonly tokensInSecrets: boolean;
  /** A pod that has one claim under two names: each is waited for, and not one of them for ever. */
  readonly knowsEveryName: boolean;
  /** A shared volume whose driver said that nodes need not expand it is spared NodeExpandVolume (k/k#131419). */
  readonly heedsNodeExpansionNotRequired: boolean;
  /** A secret or VolumeAttachment that cannot be read makes the mapping of a raw block volume fail for good. */
  readonly blockFetchErrorIsFinal: boolean;
}

const BEHAVIOUR: Readonly<Record<KubeletVersion, Behaviour>> = {
  '1.32': {
    finalErrorDropsReconstructedJson: true,
    capabilitiesErrorIsFinal: true,
    globalJsonWithoutStaging: true,
    retriesRegistration: false,
    handlesDra: false,
    updatesAllocatable: false,
    failedRepublishRemovesTarget: true,
    blockFetchErrorIsFinal: true,
    tokensInSecrets: false,
    knowsEveryName: false,
    heedsNodeExpansionNotRequired: false,
  },
  '1.36': {
    finalErrorDropsReconstructedJson: false,
    capabilitiesErrorIsFinal: false,
    globalJsonWithoutStaging: false,
    retriesRegistration: true,
    handlesDra: true,
    updatesAllocatable: true,
    failedRepublishRemovesTarget: false,
    blockFetchErrorIsFinal: false,
    tokensInSecrets: true,
    knowsEveryName: true,
    heedsNodeExpansionNotRequired: true,
  },
};

export function behaviourOf(version: KubeletVersion): Behaviour {
  return BEHAVIOUR[version];
}
