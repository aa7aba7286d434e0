import * as fs from 'node:fs';
import { galleryFile } from '../../support/gallery-files';
import { ONE_POD, type Played, type PlayOptions, play, rules } from './harness';

/** A rehearsal with a scenario of the gallery. */
export function playShipped(
  name: string,
  steps: string,
  options: Omit<PlayOptions, 'scenario'> = {},
): Promise<Played> {
  return play(ONE_POD, steps, { ...options, scenario: fs.readFileSync(galleryFile(name), 'utf8') });
}

/** A rule for GetInfo that answers something else. */
export const info = (merge: string, when = '') =>
  rules(`{name: info, match: {rpc: GetInfo}, ${when}then: [{respond: {merge: ${merge}}}]}`);

export interface Failure {
  /** Milliseconds since the rehearsal began. */
  readonly at: number;
  /** How long the kubelet leaves the socket alone, as it says it. */
  readonly wait: string;
  readonly error: string;
}

/** Registrations that failed, in order. */
export function failuresOf({ timeline }: Played): Failure[] {
  return timeline.entries.flatMap(({ kind, text, at }) => {
    const match = /^Operation for .*durationBeforeRetry (\S+)\)\. Error: (.*)$/.exec(text);
    return kind === 'backoff' && match ? [{ at, wait: match[1] ?? '', error: match[2] ?? '' }] : [];
  });
}

/** What was written into CSINode and taken out of it: `1.0 registered`, in seconds. */
export function csiNodeOf({ timeline }: Played): string[] {
  return timeline.entries.flatMap(({ text, at }) => {
    const match = /^CSINode node-1: driver \S+ (registered|removed)/.exec(text);
    return match ? [`${(at / 1000).toFixed(1)} ${match[1]}`] : [];
  });
}

/** `1.0 GetInfo OK`, in seconds; of one socket when it is named. */
export function askedOf({ calls }: Played, method: string, socket?: string): string[] {
  return calls
    .filter((call) => call.method === method && (socket === undefined || call.about === socket))
    .map(({ at, code }) => `${(at / 1000).toFixed(1)} ${code}`);
}

/** What the kubelet told the plugin, in order: '' when it is registered. */
export function verdictsOf({ calls }: Played): string[] {
  return calls
    .filter(({ method }) => method === 'NotifyRegistrationStatus')
    .map(({ request }) => (request as { error?: string }).error ?? '');
}
