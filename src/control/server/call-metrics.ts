import type { JournalEntry } from '../../journal/entry';
import type { Journal } from '../../journal/journal';
import type { Driver } from '../../server/driver';
import type { Metrics } from './metrics';

interface EndedCall {
  readonly method: string;
  readonly code: string;
  readonly seconds: number;
}

const MAX_WAITING = 10_000;

/**
 * Counts calls from the start of the process. prom-client takes a twentieth of a second to load: until somebody asks for
 * metrics, calls are only written down.
 */
export class CallMetrics {
  private waiting: EndedCall[] = [];
  private metrics: Metrics | undefined;
  private readonly unsubscribe: () => void;

  constructor(private readonly driver: Driver) {
    const journal: Journal = driver.journal;
    for (const entry of journal.entries()) this.take(entry);
    this.unsubscribe = journal.subscribe((entry) => this.take(entry));
  }

  private take(entry: JournalEntry): void {
    if (entry.type !== 'answered') return;
    const { method, code, durationMs } = entry;
    this.waiting.push({ method, code, seconds: durationMs / 1000 });
    if (this.waiting.length > MAX_WAITING || this.metrics) this.settle();
  }

  private settle(): Metrics {
    this.metrics ??= makeMetrics(this.driver);
    for (const { method, code, seconds } of this.waiting) this.metrics.ended(method, code, seconds);
    this.waiting = [];
    return this.metrics;
  }

  /** In the text format of Prometheus. */
  text(): Promise<{ type: string; text: string }> {
    return this.settle().text();
  }

  stop(): void {
    this.unsubscribe();
  }
}

function makeMetrics(driver: Driver): Metrics {
  const { Metrics: Loaded } = require('./metrics') as typeof import('./metrics');
  return new Loaded(driver);
}
