import { readIfThere, writeFileAtomic } from '../../util/files';
import type { Log } from '../../util/log';
import type { SavedScenario } from '../engine/armed';

const DELAY_MS = 200;

/**
 * The counters of one process, so that its next life goes on where it stopped: a rule that ends the process at the first
 * stage of a volume must not end it at the second, too.
 */
export class StateFile {
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly file: string,
    private readonly save: () => Record<string, SavedScenario>,
    private readonly log: Log,
  ) {}

  read(): Record<string, SavedScenario> {
    const text = readIfThere(this.file);
    if (text === undefined) return {};
    try {
      return JSON.parse(text) as Record<string, SavedScenario>;
    } catch (error) {
      this.log.warn(
        { file: this.file, error: String(error) },
        'the counters of scenarios cannot be read and begin anew',
      );
      return {};
    }
  }

  /** Soon, together with what changes until then. */
  changed(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => void this.flush(), DELAY_MS);
    this.timer.unref();
  }

  /** Now. What cannot be written is logged: the driver serves on, and a full disk may be what is being tested. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(async () => {
      try {
        await writeFileAtomic(this.file, `${JSON.stringify(this.save())}\n`, 'process');
      } catch (error) {
        this.log.error(
          { file: this.file, error: String(error) },
          'the counters of scenarios cannot be written',
        );
      }
    });
    return this.writing;
  }
}
