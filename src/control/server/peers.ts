import * as path from 'node:path';
import { isListening } from '../../util/listening';
import { type ControlClient, ControlError, connectControl } from '../client';
import { controlSockets } from '../find-socket';

const PEER_MS = 1_000;

export interface PeerAnswers<T> {
  readonly answers: readonly T[];
  /** Names of sockets whose process answered that it cannot. */
  readonly refused: readonly string[];
  /** Names of sockets whose process did not answer in time. */
  readonly unreachable: readonly string[];
}

/** The other processes on the data folder, by their control sockets. */
export class Peers {
  constructor(
    private readonly folder: string,
    private readonly own: () => string | undefined,
  ) {}

  /** Asks all of them at once. None is waited for longer than a second. */
  async ask<T>(question: (peer: ControlClient) => Promise<T>): Promise<PeerAnswers<T>> {
    const answers: T[] = [];
    const refused: string[] = [];
    const unreachable: string[] = [];
    const one = async (socket: string) => {
      try {
        answers.push(await question(connectControl({ socket }, { timeoutMs: PEER_MS })));
      } catch (error) {
        if (!(error instanceof ControlError)) throw error;
        if (error.code !== 'unreachable') refused.push(path.basename(socket));
        // A process that was killed leaves its socket behind, and is nobody to tell of.
        else if (await isListening(socket)) unreachable.push(path.basename(socket));
      }
    };
    await Promise.all(
      controlSockets(this.folder)
        .filter((socket) => socket !== this.own())
        .map(one),
    );
    return { answers, refused, unreachable };
  }
}
