// Configuration files of the kubelet, containerd and its network plugin.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { PODS } = require('./layout.cjs');

const PAUSE = 'localhost/fake-csi/pause:1';

/** Quick periods, so that what takes the kubelet a minute takes seconds, and what a machine without systemd needs. */
function kubeletConfig(layout) {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${layout.containerd.socket}`,
    volumePluginDir: path.join(layout.opt, 'volume-plugins'),
    // Nobody answers there; without one each pod gets a warning.
    clusterDNS: ['10.0.0.10'],
    clusterDomain: 'cluster.local',
    resolvConf: '',
    cgroupDriver: 'cgroupfs',
    failCgroupV1: false,
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    localStorageCapacityIsolation: false,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    // Zero is no threshold for memory: the kubelet ends over it.
    evictionHard: {
      'imagefs.available': '0%',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'memory.available': '10Mi',
    },
    imageGCHighThresholdPercent: 100,
    nodeStatusUpdateFrequency: '1s',
    nodeStatusReportFrequency: '1s',
    syncFrequency: '10s',
    volumeStatsAggPeriod: '10s',
  };
}

function containerdConfig({ containerd, cni, opt }) {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${containerd.root}"
state = "${containerd.state}"
[grpc]
  address = "${containerd.socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${opt}/containerd"
[${cri}]
  sandbox_image = "${PAUSE}"
  # Roots without CAP_SYS_RESOURCE cannot lower it.
  restrict_oom_score_adj = true
  [${cri}.cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${cni}"
  [${cri}.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;
}

const NETWORK = {
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: false,
      ipam: { type: 'host-local', ranges: [[{ subnet: PODS }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    { type: 'loopback' },
  ],
};

function writeConfiguration(layout) {
  // The kubelet reads JSON as YAML.
  fs.writeFileSync(layout.config('kubelet.yaml'), JSON.stringify(kubeletConfig(layout), null, 2));
  fs.writeFileSync(layout.config('containerd.toml'), containerdConfig(layout));
  fs.writeFileSync(path.join(layout.cni, '10-pods.conflist'), JSON.stringify(NETWORK, null, 2));
}

module.exports = { PAUSE, writeConfiguration };
