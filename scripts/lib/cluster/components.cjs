// The programs a cluster is made of and their arguments, in the order in which they are started.
'use strict';

const { kubeconfigOf } = require('./credentials.cjs');
const { NODE, SERVICES } = require('./layout.cjs');

const ETCD = 'http://127.0.0.1:2379';

const COMPONENTS = {
  etcd: (layout) => [
    `--data-dir=${layout.etcd}`,
    `--listen-client-urls=${ETCD}`,
    `--advertise-client-urls=${ETCD}`,
    '--listen-peer-urls=http://127.0.0.1:2380',
  ],
  containerd: (layout) => [`--config=${layout.config('containerd.toml')}`],
  'kube-apiserver': (layout) => [
    `--etcd-servers=${ETCD}`,
    `--advertise-address=${NODE.address}`,
    '--bind-address=0.0.0.0',
    '--secure-port=443',
    `--cert-dir=${layout.certificates}`,
    `--service-cluster-ip-range=${SERVICES.range}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${layout.config('service-accounts.pub')}`,
    `--service-account-signing-key-file=${layout.config('service-accounts.key')}`,
    `--token-auth-file=${layout.config('tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged',
    '--kubelet-preferred-address-types=InternalIP',
  ],
  kubelet: (layout) => [
    `--config=${layout.config('kubelet.yaml')}`,
    `--kubeconfig=${kubeconfigOf(layout, 'kubelet')}`,
    `--hostname-override=${NODE.name}`,
    `--node-ip=${NODE.address}`,
    '--root-dir=/var/lib/kubelet',
    '--v=4',
  ],
  'kube-controller-manager': (layout) => [
    `--kubeconfig=${kubeconfigOf(layout, 'kube-controller-manager')}`,
    '--use-service-account-credentials',
    `--service-account-private-key-file=${layout.config('service-accounts.key')}`,
    `--root-ca-file=${layout.certificates}/apiserver.crt`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
  ],
  'kube-scheduler': (layout) => [
    `--kubeconfig=${kubeconfigOf(layout, 'kube-scheduler')}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
  ],
};

const COMPONENT_NAMES = Object.keys(COMPONENTS);

/** @throws Error for a name that is none. */
function argumentsOf(layout, component) {
  if (!COMPONENT_NAMES.includes(component))
    throw new Error(`expected one of ${COMPONENT_NAMES.join(', ')}, found "${component}"`);
  return COMPONENTS[component](layout);
}

module.exports = { COMPONENT_NAMES, argumentsOf };
