import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Method } from '../csi/rpcs';
import { isMethod } from '../csi/rpcs';
import { permissionDenied, unauthenticated } from '../csi/status';

interface Identity {
  secrets: Record<string, string>;
  denied: Method[];
}

/**
 * Who may call: every RPC that can carry secrets must carry those of one identity (`--secrets-file`).
 * The file is JSON: `{"identities": [{"secrets": {"user": "…", "password": "…"}, "denied": ["DeleteVolume"]}]}`.
 */
export class SecretPolicy {
  private constructor(private readonly identities: readonly Identity[]) {}

  /** @throws Error with one line that says what is wrong with the file, and none of its values. */
  static read(file: string): SecretPolicy {
    const wrong = (what: string) =>
      new Error(
        `--secrets-file ${file}: ${what}; expected {"identities": [{"secrets": {"key": "value"}, "denied": ["DeleteVolume"]}]}`,
      );
    let parsed: unknown;
    try {
      parsed = JSON.parse(readFileSync(file, 'utf8'));
    } catch (error) {
      throw wrong((error as NodeJS.ErrnoException).code ?? 'it is no JSON');
    }
    const list = (parsed as { identities?: unknown } | null)?.identities;
    if (!Array.isArray(list) || list.length === 0) throw wrong('it names no identities');
    return new SecretPolicy(
      list.map((item: { secrets?: unknown; denied?: unknown }, index) => {
        const secrets = item?.secrets;
        if (typeof secrets !== 'object' || secrets === null || Object.keys(secrets).length === 0)
          throw wrong(`identity ${index} has no secrets`);
        if (Object.values(secrets).some((value) => typeof value !== 'string'))
          throw wrong(`identity ${index} has a secret that is no string`);
        const denied = item.denied ?? [];
        if (!Array.isArray(denied) || !denied.every((name) => typeof name === 'string' && isMethod(name)))
          throw wrong(`identity ${index} denies something that is no RPC`);
        return { secrets: secrets as Record<string, string>, denied: denied as Method[] };
      }),
    );
  }

  /** @throws CsiError UNAUTHENTICATED for secrets of nobody, PERMISSION_DENIED for somebody who may not call this. */
  check(method: Method, request: object): void {
    const { secrets } = request as { secrets?: Record<string, string> };
    // Seven node RPCs have no secrets field at all; nobody can authenticate there.
    if (secrets === undefined) return;
    const identity = this.identities.find((known) => matches(known.secrets, secrets));
    if (!identity)
      throw unauthenticated(
        Object.keys(secrets).length === 0
          ? 'secrets: this plugin was started with --secrets-file and expects them; none were sent'
          : 'secrets: they are not those of any identity in --secrets-file',
      );
    if (identity.denied.includes(method))
      throw permissionDenied(`secrets: this identity may not call ${method}`);
  }
}

function matches(known: Record<string, string>, sent: Record<string, string>): boolean {
  return Object.entries(known).every(
    ([key, value]) => Object.hasOwn(sent, key) && timingSafeEqual(hash(value), hash(sent[key] ?? '')),
  );
}

const hash = (text: string) => createHash('sha256').update(text).digest();
