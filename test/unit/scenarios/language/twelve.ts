/** One file with a scenario for each way in which a volume gets stuck, in the words of the language. */
const header = (name: string): string =>
  `apiVersion: fake-csi/v1\nkind: Scenario\nmetadata: {name: ${name}}\n`;

export const twelve: readonly { readonly name: string; readonly text: string }[] = [
  {
    name: 'slow-attach',
    text: `spec:
  rules:
  - name: slow
    match: {rpc: ControllerPublishVolume, volume: {storageClass: chaos}}
    sequence: "3*DEADLINE_EXCEEDED(attach pending) -> 1*delay(20s) -> ok"
  expect:
  - {count: ">=4", rpc: ControllerPublishVolume, within: 3m}
  - {never: NodeStageVolume, until: {rpc: ControllerPublishVolume, code: OK}}
`,
  },
  {
    name: 'another-filesystem',
    text: `spec:
  rules:
  - name: foreign
    match: {rpc: NodeStageVolume, volume: {fsType: ext4}}
    when: {per: volume, times: 2}
    then: [{disk: {foreignFs: xfs}}]
    destructive: true
  expect:
  - {count: 2, rpc: NodeStageVolume, code: INTERNAL, message: "*wrong fs type, bad option, bad superblock*"}
  - {gap: {rpc: NodeStageVolume, ratio: 2, tolerance: 40%, max: 2m2s}}
`,
  },
  {
    name: 'device-missing',
    text: `spec:
  rules:
  - {name: nodev, match: {rpc: NodeStageVolume, node: "kind-worker2"}, then: [{disk: missing}], when: {after: 0s}}
  expect: [{count: ">=3", rpc: NodeStageVolume, node: "kind-worker2", code: INTERNAL, message: "*special device * does not exist*", within: 60s}]
`,
  },
  {
    name: 'answer-lost',
    text: `spec:
  rules:
  - name: lose
    match: {rpc: NodeStageVolume}
    when: {per: volume, nth: 1}
    then: [{at: after}, {error: {code: DEADLINE_EXCEEDED}}]
  - name: final
    match: {rpc: NodeStageVolume, volume: {attributes: {variant: final}}}
    priority: 20
    then: [{at: instead}, {error: {code: INVALID_ARGUMENT, message: no}}]
  expect:
  - {idempotent: NodeStageVolume}
  - {count: ">=1", rpc: NodeUnstageVolume, after: podDeleted, volume: {attributes: {variant: "!final"}}}
  - {never: NodeUnstageVolume, volume: {attributes: {variant: final}}, for: 60s}
`,
  },
  {
    name: 'invisible',
    text: `spec:
  rules:
  - name: lie
    match: {rpc: NodePublishVolume}
    when: {per: pod, nth: 1}
    then: [{at: instead}, {respond: {merge: {}}}]
  expect: [{probe: {mode: after, exec: {pod: app-0, command: [cat, /data/canary]}, expect: fail}}]
`,
  },
  {
    name: 'slow-detach',
    text: `spec:
  rules:
  - {name: slowdetach, match: {rpc: ControllerUnpublishVolume}, when: {per: volume, nth: 1}, then: [{hang: {until: deadline}}]}
  expect:
  - {order: [NodeUnpublishVolume, NodeUnstageVolume, ControllerUnpublishVolume]}
  - {overlap: none, rpc: NodeUnstageVolume}
  - {leak: {loops: 0, mounts: 0}}
`,
  },
  {
    name: 'dies-staging',
    text: `spec:
  rules:
  - name: die
    match: {rpc: NodeStageVolume}
    when: {per: volume, nth: 1}
    then: [{at: after}, {process: {exit: 137}}]
  expect:
  - {count: ">=2", rpc: NodeStageVolume, within: 2m}
  - {eventually: {volume: "*", state: published}, within: 3m}
  - {leak: {loops: 0, mounts: 0}, when: end}
`,
  },
  {
    name: 'warming-up',
    text: `spec:
  rules:
  - {name: noinfo, match: {rpc: NodeGetInfo}, sequence: "50%2*UNAVAILABLE(warming up) -> ok"}
  expect: [{eventually: {registration: registered}, within: 90s}, {fired: {rule: noinfo, times: ">=2"}}]
`,
  },
  {
    name: 'no-room',
    text: `spec:
  rules:
  - {name: noexpand, match: {rpc: ControllerExpandVolume}, sequence: "1*OUT_OF_RANGE(pool exhausted) -> ok"}
  expect:
  - {probe: {mode: during, exec: {pod: db-0, command: [sh, -c, "dd if=/dev/zero of=/data/t bs=1M count=8"]}, expect: fail}}
  - {probe: {mode: after, http: {url: "http://db/healthz"}, expect: 200}}
`,
  },
  {
    name: 'hung-disk',
    text: `spec:
  limits: {maxHang: 90s}
  expect: [{eventually: {fault: hung, state: healed}, within: 5m}, {probe: {mode: after, exec: {pod: app-0, command: [sync]}, expect: ok}}]
`,
  },
  {
    name: 'read-only-again',
    text: `spec:
  expect:
  - {event: {reason: "*", involved: pod/app-0}, optional: true}
  - {eventually: {volume: {pvc: {name: data-0}}, state: published, writable: true}, within: 10m}
`,
  },
  {
    name: 'corrupt-by-chance',
    text: `spec:
  seed: 7
  limits: {allowDestructive: true, maxVolumes: 2}
  rules:
  - name: damage
    match: {rpc: NodeStageVolume, volume: {parameters: {disk: fault}}}
    when: {per: volume, skip: 1, probability: 0.3}
    then: [{disk: corruptSuperblock}]
    destructive: true
  expect: [{count: ">=1", rpc: NodeStageVolume, code: INTERNAL, message: "*cannot mount; probably corrupted filesystem*|*Structure needs cleaning*"}, {fired: {rule: damage, times: ">=1"}}]
`,
  },
].map(({ name, text }) => ({ name, text: header(name) + text }));
