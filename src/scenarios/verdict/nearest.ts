import type { JournalCall } from '../../journal/calls';
import type { KeyMiss } from '../engine/facts';
import { keySentence, missSentence } from './armed-rules';

/** The call that came nearest to being one that was wanted: the fewest keys that do not hold, then the newest. */
export class Nearest {
  private best: { call: JournalCall; misses: readonly KeyMiss[] } | undefined;

  offer(call: JournalCall, misses: readonly KeyMiss[]): void {
    if (!this.best || misses.length <= this.best.misses.length) this.best = { call, misses };
  }

  /** A call that was offered on its arrival has been answered: the object now says what rules nearly fired. */
  refresh(call: JournalCall): void {
    if (this.best?.call.process === call.process && this.best.call.call === call.call)
      this.best = { ...this.best, call };
  }

  sentence(): string | undefined {
    if (!this.best) return undefined;
    const { call, misses } = this.best;
    const own = `call ${call.call} (${call.method}) does not count: ${misses.map(keySentence).join('; ')}`;
    const [rule] = call.misses;
    return rule ? `${own}; ${missSentence(rule, call)}` : own;
  }
}
