// Where everything of one cluster is: one folder of the host, and fixed names and addresses inside its namespaces.
'use strict';

const os = require('node:os');
const path = require('node:path');

/** Inside a network namespace of its own nobody else has these addresses. */
const NODE = { name: 'n1', address: '10.99.0.1' };
/** The first address of the services: that of the API server, which listens there itself. */
const SERVICES = { range: '10.0.0.0/24', apiServer: '10.0.0.1' };
const PODS = '10.88.0.0/16';

const DEFAULT_FOLDER = path.join(os.tmpdir(), 'fake-csi-cluster');

/**
 * @param {string} folder of the cluster, absolute.
 * @returns paths on the host. What the cluster has under /var/lib and /var/log lies in `varLib` and `varLog`; mounts
 *   that were made in it are seen inside its mount namespace only.
 */
function layoutOf(folder) {
  const at = (...names) => path.join(folder, ...names);
  return {
    folder,
    /** Says that the folder is a cluster's, and may be removed as one. */
    marker: at('fake-csi-cluster'),
    /** Names the line of Kubernetes that it is made of. */
    line: at('kubernetes'),
    /** There when the namespaces are furnished. */
    furnished: at('furnished'),
    /** Names the archives of images that containerd has. */
    imported: at('imported'),
    program: (name) => at('bin', name),
    bin: at('bin'),
    log: (component) => at('log', `${component}.log`),
    logs: at('log'),
    /** What the processes read: configuration, keys, tokens. */
    config: (name) => at('config', name),
    configs: at('config'),
    certificates: at('certificates'),
    kubeconfig: at('kubeconfig'),
    kubectlCache: at('kubectl-cache'),
    etcd: at('etcd'),
    containerd: { root: at('containerd'), state: at('containerd-state'), socket: at('containerd.sock') },
    cni: at('cni'),
    varLib: at('var-lib'),
    varLog: at('var-log'),
    /** The kubelet's /var/lib/kubelet, without what is mounted in it. */
    kubelet: at('var-lib', 'kubelet'),
    sysctls: at('sysctls'),
    opt: at('opt'),
  };
}

module.exports = { DEFAULT_FOLDER, NODE, PODS, SERVICES, layoutOf };
