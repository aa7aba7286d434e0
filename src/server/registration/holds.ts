import type { RegistrationAct } from '../../scenarios/model';
import type { Clock } from '../../util/clock';
import type { Appearance } from './sockets';

/** Whose rule it is. */
export interface ActedBy {
  readonly scenario: string;
  readonly rule: string;
}

interface Hold extends ActedBy {
  /** It has no time of its own. */
  readonly endless: boolean;
  readonly kind: RegistrationAct['kind'];
  readonly timer: AbortController;
}

/** What rules do to the registration at this moment. Several may at once: the one that hides most is seen. */
export class RegistrationHolds {
  private readonly holds = new Set<Hold>();

  constructor(
    private readonly clock: Clock,
    private readonly changed: () => void,
  ) {}

  add(act: RegistrationAct, { scenario, rule }: ActedBy): void {
    const hold: Hold = {
      scenario,
      rule,
      kind: act.kind,
      endless: act.forMs === undefined,
      timer: new AbortController(),
    };
    this.holds.add(hold);
    if (act.forMs !== undefined)
      void this.clock.sleep(act.forMs, hold.timer.signal).then(
        () => {
          this.holds.delete(hold);
          this.changed();
        },
        () => undefined,
      );
    this.changed();
  }

  /** Ends those that `which` names. */
  end(which: (hold: ActedBy & { readonly endless: boolean }) => boolean): void {
    const found = [...this.holds].filter(which);
    for (const hold of found) {
      hold.timer.abort();
      this.holds.delete(hold);
    }
    if (found.length > 0) this.changed();
  }

  get appearance(): Appearance {
    if (this.find('unregister')) return 'absent';
    if (this.find('dead')) return 'dead';
    return this.find('silent') ? 'silent' : 'serving';
  }

  get second(): boolean {
    return this.find('second') !== undefined;
  }

  /** Who makes the plugin look as it does, as `scenario/rule`. */
  get by(): string | undefined {
    const hold = this.find('unregister') ?? this.find('dead') ?? this.find('silent');
    return hold && `${hold.scenario}/${hold.rule}`;
  }

  private find(kind: Hold['kind']): Hold | undefined {
    for (const hold of this.holds) if (hold.kind === kind) return hold;
    return undefined;
  }
}
