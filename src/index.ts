/** The public API of fake-csi: a CSI driver in a test. docs/library.md shows how it is used. */
export type { CallOptions, CsiClient } from './csi/client';
export type { ClientRequestOf, ClientResponseOf, Method } from './csi/rpcs';
export { Code, type CodeName, CsiError } from './csi/status';
export type { Miss } from './journal/entry';
export { ManifestProblems } from './kubelet/manifests/problems';
export type { Standing } from './kubelet/standing';
export type { KubeletVersion } from './kubelet/versions';
export type { Problem } from './scenarios/language';
export { ScenarioProblems } from './scenarios/library/library';
export type { ExpectationResult } from './scenarios/verdict/evaluate';
export type { Verdict } from './scenarios/verdict/verify';
export type { Leaks, VolumeView } from './server/inspect';
export type { Call, CallFilter } from './testing/calls';
export type { Duration } from './testing/duration';
export type { Expecting, Kept, Reached } from './testing/expect';
export type { FakeCsi } from './testing/fake-csi';
export type { FireOptions, ScenarioHandle } from './testing/handles';
export type {
  KubeletCall,
  KubeletCallFilter,
  KubeletEvent,
  KubeletEventFilter,
  TestKubelet,
} from './testing/kubelet';
export type { KubeletCondition } from './testing/kubelet-steps';
export type { StartOptions } from './testing/options';
export type { Mark } from './testing/recording';
export { type ScenarioSource, SpecError } from './testing/scenario-source';
export type * from './testing/scenario-types';
export { startFakeCsi } from './testing/start';
export {
  type KubeletDriver,
  type KubeletOptions,
  type ManifestSource,
  startKubelet,
} from './testing/start-kubelet';
export type { Clock } from './util/clock';
export type { Log } from './util/log';
