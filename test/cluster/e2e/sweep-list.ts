/** A scenario of the gallery that a pod with one claim meets, and what it needs to meet it. */
export interface Swept {
  readonly scenario: string;
  readonly knob: string;
  readonly fsType?: 'xfs';
  readonly fsGroup?: number;
  readonly block?: boolean;
  /** It acts on a volume that has been used: the pod goes and comes again. */
  readonly again?: boolean;
  /** How long the pod is left to itself; most say all they have to say in the first half minute. */
  readonly seconds?: number;
}

/** Longer than two minutes: the RPC deadlines of the kubelet and of the attach/detach controller. */
const DEADLINE = 150;

export const SWEPT: readonly Swept[] = [
  { scenario: 'create-fails-then-works', knob: '' },
  { scenario: 'create-lost-answer', knob: '' },
  { scenario: 'create-smaller-than-asked', knob: '' },
  { scenario: 'out-of-capacity', knob: '' },
  { scenario: 'delete-fails', knob: '' },
  // Six times 15 s, and then the last pause of the attach/detach controller, which has doubled to 64 s.
  { scenario: 'attach-hangs', knob: 'A1', seconds: DEADLINE + 30 },
  { scenario: 'attach-fails', knob: 'A2' },
  { scenario: 'stuck-attaching', knob: 'A1, A2', seconds: DEADLINE },
  { scenario: 'publish-context-wrong', knob: 'A4' },
  { scenario: 'detach-fails', knob: 'A5' },
  { scenario: 'detach-hangs', knob: 'A5' },
  { scenario: 'slow-attach', knob: 'A6' },
  { scenario: 'stage-final-error', knob: 'M1' },
  { scenario: 'publish-fails', knob: 'M1' },
  { scenario: 'stage-uncertain', knob: 'M2' },
  { scenario: 'stage-hangs', knob: 'M2', seconds: DEADLINE },
  { scenario: 'stage-final-but-mounted', knob: 'M3' },
  { scenario: 'not-visible', knob: 'M4' },
  { scenario: 'stage-ok-no-mount', knob: 'M4' },
  { scenario: 'publish-read-only', knob: 'M7' },
  { scenario: 'wrong-fstype', knob: 'M8' },
  { scenario: 'corrupt-filesystem', knob: 'M8', again: true },
  { scenario: 'missing-device', knob: 'M8' },
  { scenario: 'read-only-device', knob: 'M8' },
  { scenario: 'truncated-disk', knob: 'M8', again: true },
  { scenario: 'bad-mount-option', knob: 'M8' },
  { scenario: 'blank-disk', knob: 'M8' },
  { scenario: 'publish-hangs', knob: 'M11', seconds: DEADLINE },
  { scenario: 'late-mount', knob: 'M13', seconds: DEADLINE },
  { scenario: 'lost-answer', knob: 'M13' },
  { scenario: 'fsgroup-ignored', knob: 'M15', fsGroup: 3000 },
  { scenario: 'unpublish-fails', knob: 'T1' },
  { scenario: 'unpublish-lost-answer', knob: 'T1' },
  { scenario: 'late-unmount', knob: 'T1' },
  { scenario: 'unpublish-ok-mount-left', knob: 'T2' },
  { scenario: 'unstage-fails', knob: 'T5' },
  { scenario: 'stuck-detaching', knob: 'T5, A5' },
  { scenario: 'unstage-ok-mount-left', knob: 'T6' },
];
