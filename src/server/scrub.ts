import { STRIPPED } from '../csi/redact';

interface Sensitive {
  secrets?: Record<string, string>;
  volume_capability?: { mount?: { mount_flags?: string[] } | null } | null;
  volume_capabilities?: { mount?: { mount_flags?: string[] } | null }[];
}

/** Flags of up to this length are words like `ro` and `nodev`: no secret, and part of many others. */
const SHORT_FLAG = 5;

export interface Scrubber {
  /** For logs and the journal: without secrets and mount flags. */
  log(text: string): string;
  /** For the client, which is told the mount flag that was refused but never a secret. */
  answer(text: string): string;
}

/**
 * Removes what a request says in confidence from texts about it: error messages repeat paths and flags, and the kernel's
 * own words may repeat what it was given. Secrets and mount flags must reach no log and no journal, secrets no answer
 * (CSI 1.12, Secrets Requirements and VolumeCapability.MountVolume).
 */
export function scrubber(request: object): Scrubber {
  const { secrets = {} } = request as Sensitive;
  const secret = Object.values(secrets).filter((value) => value !== '');
  return { log: without([...secret, ...flagWords(request as Sensitive)]), answer: without(secret) };
}

function without(words: readonly string[]): (text: string) => string {
  if (words.length === 0) return (text) => text;
  // The longest first: one may be a part of another.
  const sorted = [...words].sort((a, b) => b.length - a.length);
  return (text) => sorted.reduce((left, word) => left.replaceAll(word, STRIPPED), text);
}

function flagWords(request: Sensitive): Set<string> {
  const words = new Set<string>();
  const capabilities = [request.volume_capability, ...(request.volume_capabilities ?? [])];
  for (const capability of capabilities)
    for (const flag of capability?.mount?.mount_flags ?? []) {
      if (flag.length > SHORT_FLAG) words.add(flag);
      const [name = '', ...values] = flag.split(/[=,]/);
      if (name.length > SHORT_FLAG) words.add(name);
      for (const value of values) if (value !== '') words.add(value);
    }
  return words;
}
