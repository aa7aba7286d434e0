import { createHash } from 'node:crypto';
import type { Clock } from '../util/clock';
import type { ApiServer } from './api-server';
import type { CsiDriverObject, Pod, TokenRequest } from './objects';
import type { Seeded } from './seeded';

export const TOKENS_KEY = 'csi.storage.k8s.io/serviceAccount.tokens';

/** As the API server writes moments: RFC 3339 in whole seconds. */
interface Issued {
  readonly token: string;
  readonly expirationTimestamp: string;
  readonly issuedAt: number;
}

/** pkg/kubelet/token: a token is kept until four fifths of its life are over. */
const REFRESH_AT = 0.8;

/** The tokens of service accounts that drivers ask for (CSIDriver.spec.tokenRequests). They are no one's key to anything. */
export class ServiceAccountTokens {
  private readonly known = new Map<string, Issued>();

  constructor(
    private readonly clock: Clock,
    private readonly seeded: Seeded,
    private readonly api: Pick<ApiServer, 'failureOf'>,
  ) {}

  /**
   * What goes under TOKENS_KEY: JSON of audience to token and moment of expiry; undefined when none is asked for.
   * @throws Error where there is none that lives, and none to be had
   */
  textFor(driver: CsiDriverObject | undefined, pod: Pod): string | undefined {
    const requests = driver?.tokenRequests ?? [];
    if (requests.length === 0) return undefined;
    const tokens = requests.map((request): [string, object] => {
      const { token, expirationTimestamp } = this.tokenOf(pod, request);
      return [request.audience, { token, expirationTimestamp }];
    });
    // A map of Go: its keys are sorted.
    return JSON.stringify(Object.fromEntries(tokens.sort(([a], [b]) => (a < b ? -1 : 1))));
  }

  private tokenOf(pod: Pod, { audience, expirationSeconds }: TokenRequest): Issued {
    const key = [pod.meta.uid, audience, expirationSeconds].join(' ');
    const known = this.known.get(key);
    const now = this.clock.now();
    const lifeMs = expirationSeconds * 1_000;
    if (known && now < known.issuedAt + lifeMs * REFRESH_AT) return known;
    const { namespace } = pod.meta;
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/${pod.serviceAccountName}`;
    const failure = this.api.failureOf('Post', `${account}/token`);
    if (failure !== undefined) {
      // One that still lives is good enough.
      if (known && now < known.issuedAt + lifeMs) return known;
      throw new Error(
        known
          ? `token "${pod.serviceAccountName}"/"${namespace}" expired and refresh failed: ${failure}`
          : `failed to fetch token: ${failure}`,
      );
    }
    const issued = this.issue(pod, audience, now, lifeMs);
    this.known.set(key, issued);
    return issued;
  }

  private issue({ meta, serviceAccountName }: Pod, audience: string, now: number, lifeMs: number): Issued {
    const expires = Math.floor((now + lifeMs) / 1_000);
    const claims = {
      aud: [audience],
      exp: expires,
      iat: Math.floor(now / 1_000),
      iss: 'https://kubernetes.default.svc.cluster.local',
      'kubernetes.io': {
        namespace: meta.namespace,
        pod: { name: meta.name, uid: meta.uid },
        serviceaccount: { name: serviceAccountName },
      },
      sub: `system:serviceaccount:${meta.namespace}:${serviceAccountName}`,
    };
    const signed = [{ alg: 'RS256', kid: 'rehearsal' }, claims].map(base64url).join('.');
    const signature = createHash('sha256').update(`${this.seeded.uuid('service account key')}${signed}`);
    return {
      token: `${signed}.${signature.digest('base64url')}`,
      expirationTimestamp: new Date(expires * 1_000).toISOString().replace('.000Z', 'Z'),
      issuedAt: now,
    };
  }
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
