import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { errnoOf } from '../../util/files';

const MIN_LENGTH = 16;

/** What a client has to bring on TCP. It is never logged. */
export class Token {
  private readonly hash: Buffer;

  /** @throws Error when it could be guessed, or cannot stand in a header. `from` is who said it. */
  constructor(value: string, from: string) {
    if (value.length < MIN_LENGTH || !/^[\x21-\x7e]+$/.test(value))
      throw new Error(
        `${from}: expected a token of at least ${MIN_LENGTH} printable characters without spaces`,
      );
    this.hash = hashOf(value);
  }

  /** Takes the same time however much of it is right. */
  isIn(authorization: string | undefined): boolean {
    const [, given = ''] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    return timingSafeEqual(hashOf(given), this.hash);
  }
}

/** Hashes have one length, which timingSafeEqual asks for and which tells nothing. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The token of a file; a file that is not there is made, for its owner alone. */
export function tokenOfFile(file: string): Token {
  try {
    writeFileSync(file, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  return new Token(readFileSync(file, 'utf8').trim(), file);
}
