import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { SecretPolicy } from '../../../src/server/secrets';

const folder = fs.mkdtempSync(path.join(tmpdir(), 'secrets-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

function policy(content: unknown): SecretPolicy {
  const file = path.join(folder, 'secrets.json');
  fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return SecretPolicy.read(file);
}

const right = { user: 'alice', password: 's3cret-1' };
const code = (code: Code) => expect.objectContaining({ code });

describe('SecretPolicy', () => {
  it('lets in who sends the secrets of one identity, with or without more', () => {
    const checked = policy({ identities: [{ secrets: { other: 'x' } }, { secrets: right }] });
    for (const secrets of [right, { ...right, more: 'y' }, { other: 'x' }])
      expect(() => checked.check('DeleteVolume', { secrets })).not.toThrow();
  });

  it.each([
    [{}],
    [{ user: 'alice' }],
    [{ ...right, password: 'S3cret-1' }],
    [{ ...right, user: '' }],
    [{ toString: 'x' }],
  ])('sends %j away', (secrets) => {
    const check = () => policy({ identities: [{ secrets: right }] }).check('DeleteVolume', { secrets });
    expect(check).toThrow(code(Code.UNAUTHENTICATED));
    expect(check).not.toThrow(/s3cret/i);
  });

  it('forbids what an identity may not', () => {
    const checked = policy({ identities: [{ secrets: right, denied: ['DeleteVolume'] }] });
    expect(() => checked.check('DeleteVolume', { secrets: right })).toThrow(code(Code.PERMISSION_DENIED));
    expect(() => checked.check('CreateVolume', { secrets: right })).not.toThrow();
  });

  it('asks nobody whose request has no place for secrets', () => {
    expect(() => policy({ identities: [{ secrets: right }] }).check('ListVolumes', {})).not.toThrow();
  });

  it.each([
    ['no JSON, with a secret in it', '{"identities": [{"secrets": {"p": "s3cret-1"', /it is no JSON/],
    ['no identities', {}, /names no identities/],
    ['an empty list of them', { identities: [] }, /names no identities/],
    ['null', 'null', /names no identities/],
    ['an identity without secrets', { identities: [{ secrets: right }, {}] }, /identity 1 has no secrets/],
    ['an identity that is null', { identities: [null] }, /identity 0 has no secrets/],
    ['a secret that is a number', { identities: [{ secrets: { pin: 4711 } }] }, /is no string/],
    ['a denied call that there is not', { identities: [{ secrets: right, denied: ['Fly'] }] }, /no RPC/],
    ['a denied call that is a word', { identities: [{ secrets: right, denied: 'DeleteVolume' }] }, /no RPC/],
  ])('refuses a file with %s, in one line without a secret', (_what, content, says) => {
    expect(() => policy(content)).toThrow(says);
    expect(() => policy(content)).toThrow(/^--secrets-file .*secrets\.json: /);
    expect(() => policy(content)).not.toThrow(/s3cret|4711|\n/);
  });

  it('says what is wrong with a file that is not there', () => {
    expect(() => SecretPolicy.read(path.join(folder, 'none.json'))).toThrow(/ENOENT/);
  });
});
