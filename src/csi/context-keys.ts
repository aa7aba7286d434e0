/**
 * What the kubelet adds to NodePublishVolume for drivers that ask for service-account tokens: JSON with one token
 * an audience, in volume_context, or from Kubernetes 1.35 on (serviceAccountTokenInSecrets) in secrets.
 */
export const SERVICE_ACCOUNT_TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens';
