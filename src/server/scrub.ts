import { STRIPPED } from '../csi/redact';

interface Sensitive {
  secrets?: Record<string, string>;
  volume_capability?: { mount?: { mount_flags?: string[] } | null } | null;
  volume_capabilities?: { mount?: { mount_flags?: string[] } | null }[];
}

/** Flags of up to this length are words like `ro` and `nodev`: no secret, and part of many others. */
const SHORT_FLAG = 5;

/**
 * A function that removes what a request says in confidence from a text about it: error messages repeat paths and flags,
 * and the kernel's own words may repeat what it was given. Secrets and mount flags must reach no log and no journal
 * (CSI 1.12, Secrets Requirements and VolumeCapability.MountVolume).
 */
export function scrubber(request: object): (text: string) => string {
  const sensitive = [...confidential(request as Sensitive)].sort((a, b) => b.length - a.length);
  if (sensitive.length === 0) return (text) => text;
  return (text) => sensitive.reduce((left, word) => left.replaceAll(word, STRIPPED), text);
}

function confidential(request: Sensitive): Set<string> {
  const words = new Set<string>();
  for (const value of Object.values(request.secrets ?? {})) if (value !== '') words.add(value);
  const capabilities = [request.volume_capability, ...(request.volume_capabilities ?? [])];
  for (const capability of capabilities)
    for (const flag of capability?.mount?.mount_flags ?? []) {
      if (flag.length > SHORT_FLAG) words.add(flag);
      for (const part of flag.split(/[=,]/).slice(1)) if (part !== '') words.add(part);
    }
  return words;
}
