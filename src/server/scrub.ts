import { STRIPPED } from '../csi/redact';
import { once } from '../util/once';

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
  const secret = once(() => spellings(Object.values(secrets)));
  const all = once(() => [...secret(), ...spellings(flagWords(request as Sensitive))]);
  return { log: (text) => masked(text, all()), answer: (text) => masked(text, secret()) };
}

/**
 * One mask for each run of characters that belong to a word. All words are looked for in the text as it came: one may be a
 * part of another, overlap with it, or be a part of the mask.
 */
function masked(text: string, words: readonly string[]): string {
  if (words.length === 0) return text;
  const hidden = new Uint8Array(text.length);
  for (const word of words)
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
      hidden.fill(1, at, at + word.length);
  let left = '';
  for (let at = 0; at < text.length; ) {
    const next = hidden.indexOf(hidden[at] === 1 ? 0 : 1, at);
    const end = next === -1 ? text.length : next;
    left += hidden[at] === 1 ? STRIPPED : text.slice(at, end);
    at = end;
  }
  return left;
}

/** The words themselves, and as messages quote them. */
function spellings(words: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const word of words) {
    if (word === '') continue;
    found.add(word).add(JSON.stringify(word).slice(1, -1));
  }
  return [...found];
}

/** Every part of a flag that whoever reads it may repeat: the blanks around it and the quotes may be lost on the way. */
function flagWords(request: Sensitive): Set<string> {
  const words = new Set<string>();
  const add = (part: string, shortest: number) => {
    for (const word of [part, part.trim(), part.replaceAll('"', ''), part.replaceAll('"', '').trim()])
      if (word.length > shortest) words.add(word);
  };
  const capabilities = [request.volume_capability, ...(request.volume_capabilities ?? [])];
  for (const capability of capabilities)
    for (const flag of capability?.mount?.mount_flags ?? []) {
      add(flag, SHORT_FLAG);
      const [name = '', ...values] = flag.split(/[=,]/);
      add(name, SHORT_FLAG);
      for (const value of values) add(value, 0);
      // Up to the first equals sign only, or with the commas of a quoted list.
      const equals = flag.indexOf('=');
      if (equals !== -1) add(flag.slice(equals + 1), 0);
    }
  return words;
}
