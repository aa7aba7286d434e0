import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { schemaMessages } from '../../src/csi/gen/schema';
import { methods, rpcs } from '../../src/csi/rpcs';
import { SecretPolicy } from '../../src/server/secrets';
import { outcome, protocol, refusal } from './harness';
import { minimal } from './requests';

const right = { user: 'alice', password: 'wonder-4711' };
const reader = { user: 'rabbit', password: 'late-0815' };

function policy(): SecretPolicy {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'fc-secrets-'));
  const file = path.join(folder, 'secrets.json');
  const identities = [{ secrets: right }, { secrets: reader, denied: ['DeleteVolume', 'CreateSnapshot'] }];
  fs.writeFileSync(file, JSON.stringify({ identities }));
  try {
    return SecretPolicy.read(file);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const withSecrets = methods.filter((method) => schemaMessages[rpcs[method].requestType]?.fields.secrets);

protocol(
  'secrets that are asked for',
  (bench) => {
    const call = (method: (typeof methods)[number], fields: object) =>
      bench.csi[method]({ ...minimal[method], ...fields } as never);

    test('there are 19 RPCs with secrets', () => {
      expect(withSecrets).toHaveLength(19);
    });

    test.each(withSecrets)(
      'T13 %s: missing, wrong, or only half: UNAUTHENTICATED, and says no secret',
      async (method) => {
        for (const secrets of [
          {},
          { ...right, password: 'guess-1234' },
          { user: right.user },
          { password: reader.password, user: right.user },
          { other: 'guess-1234' },
        ]) {
          const { code, message } = await refusal(call(method, { secrets }));
          expect(code).toBe('UNAUTHENTICATED');
          expect(message).not.toMatch(/guess|wonder|late/);
        }
      },
    );

    test.each(withSecrets)(
      'T13 %s: right, with keys of others beside them: as if none were asked for',
      async (method) => {
        const secrets = { ...right, more: 'x' };
        expect(['OK', 'NOT_FOUND']).toContain(await outcome(call(method, { secrets })));
      },
    );

    test.each(['DeleteVolume', 'CreateSnapshot'] as const)(
      '%s: somebody who may not: PERMISSION_DENIED',
      async (method) => {
        const { code, message } = await refusal(call(method, { secrets: reader }));
        expect([code, message.includes(reader.password)]).toEqual(['PERMISSION_DENIED', false]);
        expect(await outcome(call('ListSnapshots', { secrets: reader }))).toBe('OK');
      },
    );

    test('fields are judged before secrets, secrets before existence', async () => {
      expect(await outcome(call('DeleteVolume', { volume_id: '' }))).toBe('INVALID_ARGUMENT');
      expect(await outcome(call('GetSnapshot', {}))).toBe('UNAUTHENTICATED');
    });

    test('RPCs without secrets ask for none', async () => {
      for (const method of methods.filter((other) => !withSecrets.includes(other)))
        expect(await outcome(call(method, {}))).not.toBe('UNAUTHENTICATED');
    });
  },
  { secrets: policy() },
);

protocol('secrets that nobody asks for', (bench) => {
  test.each(withSecrets)('%s: taken and ignored', async (method) => {
    const call = bench.csi[method]({ ...minimal[method], secrets: { any: 'thing' } } as never);
    expect(['OK', 'NOT_FOUND']).toContain(await outcome(call));
  });
});
