// Who may speak to the API server, as in a real cluster: each component as its own user, and RBAC says what it may do.
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const { NODE } = require('./layout.cjs');

const USERS = {
  admin: { user: 'admin', group: 'system:masters' },
  kubelet: { user: `system:node:${NODE.name}`, group: 'system:nodes' },
  'kube-controller-manager': { user: 'system:kube-controller-manager', group: '' },
  'kube-scheduler': { user: 'system:kube-scheduler', group: '' },
};

function kubeconfig(layout, token) {
  return `apiVersion: v1
kind: Config
clusters:
  - name: fake-csi
    cluster:
      server: https://${NODE.address}
      certificate-authority: ${path.join(layout.certificates, 'apiserver.crt')}
users:
  - name: user
    user:
      token: ${token}
contexts:
  - name: fake-csi
    context:
      cluster: fake-csi
      user: user
current-context: fake-csi
`;
}

/** Where the kubeconfig of a component is. */
function kubeconfigOf(layout, component) {
  return component === 'admin' ? layout.kubeconfig : layout.config(`${component}.kubeconfig`);
}

function write(file, text) {
  fs.writeFileSync(file, text, { mode: 0o600 });
}

/** Tokens and kubeconfigs of all, and the key pair that signs those of service accounts. */
function writeCredentials(layout) {
  const lines = Object.entries(USERS).map(([component, { user, group }]) => {
    const token = crypto.randomBytes(16).toString('hex');
    write(kubeconfigOf(layout, component), kubeconfig(layout, token));
    return `${token},${user},${component},"${group}"`;
  });
  write(layout.config('tokens.csv'), `${lines.join('\n')}\n`);
  const { privateKey, publicKey } = crypto.generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  write(layout.config('service-accounts.key'), privateKey);
  write(layout.config('service-accounts.pub'), publicKey);
}

module.exports = { kubeconfigOf, writeCredentials };
