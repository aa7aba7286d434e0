import type { CsiDriverObject, Pod } from '../../../src/kubelet/objects';
import { Seeded } from '../../../src/kubelet/seeded';
import { ServiceAccountTokens } from '../../../src/kubelet/service-account-tokens';
import { VirtualClock } from '../../../src/util/virtual-clock';
import { callsOf, ONE_POD, type Played, play } from './harness';

const KEY = 'csi.storage.k8s.io/serviceAccount.tokens';

const driver = (spec: string) => `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: fake.csi.test}
spec: {${spec}}
---`;

/** Requests as a journal has them: what is a secret is left out, its key is not. */
function sent(played: Played, method: string, field: 'volume_context' | 'secrets'): boolean[] {
  return callsOf(played, method).map(({ request }) =>
    Object.hasOwn((request as Record<string, object | undefined>)[field] ?? {}, KEY),
  );
}

test('tokens are in the volume context of each NodePublishVolume, and nowhere else', async () => {
  const played = await play(
    driver('requiresRepublish: true, tokenRequests: [{audience: vault, expirationSeconds: 600}]') + ONE_POD,
    'create; wait running; advance 10m',
  );
  expect(played.outcome.failure).toBeUndefined();
  const contexts = sent(played, 'NodePublishVolume', 'volume_context');
  expect(contexts.length).toBeGreaterThan(6);
  expect(contexts).not.toContain(false);
  expect(sent(played, 'NodePublishVolume', 'secrets')).not.toContain(true);
  expect(sent(played, 'NodeStageVolume', 'volume_context')).toEqual([false]);
  expect(JSON.stringify(played.calls)).not.toContain('"token"');
});

test('serviceAccountTokenInSecrets moves them into secrets with 1.36, and does nothing with 1.32', async () => {
  const manifests =
    driver('tokenRequests: [{audience: vault}], serviceAccountTokenInSecrets: true') + ONE_POD;
  const newer = await play(manifests, 'create; wait running');
  expect(sent(newer, 'NodePublishVolume', 'volume_context')).toEqual([false]);
  expect(sent(newer, 'NodePublishVolume', 'secrets')).toEqual([true]);
  const older = await play(manifests, 'create; wait running', { version: '1.32' });
  expect(sent(older, 'NodePublishVolume', 'volume_context')).toEqual([true]);
  expect(sent(older, 'NodePublishVolume', 'secrets')).toEqual([false]);
});

test('a driver that asks for none is given none', async () => {
  expect(sent(await play(ONE_POD, 'create; wait running'), 'NodePublishVolume', 'volume_context')).toEqual([
    false,
  ]);
});

describe('the text', () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const tokens = new ServiceAccountTokens(clock, new Seeded(1), { failureOf: () => undefined });
  const pod = {
    meta: { name: 'web', namespace: 'shop', uid: 'uid-1' },
    serviceAccountName: 'reader',
  } as Pod;
  const asking = (...tokenRequests: CsiDriverObject['tokenRequests']) =>
    ({ tokenRequests }) as CsiDriverObject;
  type Tokens = Record<string, { token: string; expirationTimestamp: string }>;
  const read = (of: CsiDriverObject) => JSON.parse(tokens.textFor(of, pod) ?? '{}') as Tokens;

  test('is JSON of audience to token and moment of expiry, audiences sorted', () => {
    const text = tokens.textFor(
      asking({ audience: 'vault', expirationSeconds: 3_600 }, { audience: '', expirationSeconds: 600 }),
      pod,
    );
    expect(text).toMatch(
      /^\{"":\{"token":"[^"]+","expirationTimestamp":"2026-01-01T00:10:00Z"\},"vault":\{"token":"[^"]+","expirationTimestamp":"2026-01-01T01:00:00Z"\}\}$/,
    );
    const [, claims = ''] = (JSON.parse(text ?? '{}') as Tokens).vault?.token.split('.') ?? [];
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      aud: ['vault'],
      sub: 'system:serviceaccount:shop:reader',
      'kubernetes.io': { pod: { name: 'web', uid: 'uid-1' } },
    });
  });

  test('has the same token until four fifths of its life are over', () => {
    const asked = asking({ audience: 'a', expirationSeconds: 1_000 });
    const first = read(asked).a?.token;
    clock.pass(799_000);
    expect(read(asked).a?.token).toBe(first);
    clock.pass(1_000);
    expect(read(asked).a?.token).not.toBe(first);
  });

  test('is nothing where nothing is asked for', () => {
    expect(tokens.textFor(asking(), pod)).toBeUndefined();
    expect(tokens.textFor(undefined, pod)).toBeUndefined();
  });
});
