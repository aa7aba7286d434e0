import type { Clock } from '../../util/clock';

export type Component =
  | 'rehearsal'
  | 'kube-apiserver'
  | 'scheduler'
  | 'persistentvolume-controller'
  | 'external-provisioner'
  | 'external-attacher'
  | 'external-resizer'
  | 'attachdetach-controller'
  | 'kubelet'
  | 'node-driver-registrar'
  | 'driver';

/** What happened at one moment, in the order in which it happened. */
export interface Entry {
  /** Milliseconds since the rehearsal began. */
  readonly at: number;
  readonly who: Component;
  /** Where several have one: the node of the kubelet. */
  readonly node?: string;
  readonly kind: 'step' | 'object' | 'state' | 'call' | 'event' | 'backoff' | 'file' | 'log' | 'note';
  /** The volume or the pod that it is about. */
  readonly about?: string;
  readonly text: string;
  /** Of a log line: how often it came. */
  times?: number;
}

/** An RPC. `code` and `durationMs` are there once it has ended. */
export interface CallEntry extends Entry {
  readonly kind: 'call';
  readonly method: string;
  /** As it was sent, secrets left out, paths as a kubelet has them. */
  readonly request: object;
  code?: string;
  message?: string;
  durationMs?: number;
}

export type Said = Omit<Entry, 'at' | 'times'>;

/** Everything that happened in a rehearsal. Texts hold no path of this machine: `clean` takes them out. */
export class Timeline {
  readonly entries: Entry[] = [];
  private readonly began: number;
  private readonly logs = new Map<string, Entry>();

  constructor(
    private readonly clock: Clock,
    readonly clean: (text: string) => string,
    /** Told of each entry when it is made; a call once it has ended. */
    private readonly onEntry: (entry: Entry) => void = () => undefined,
  ) {
    this.began = clock.now();
  }

  /** Milliseconds since the rehearsal began. */
  get elapsed(): number {
    return Math.round(this.clock.now() - this.began);
  }

  /** The same of a moment of the clock. */
  since(moment: number): number {
    return Math.round(moment - this.began);
  }

  add(said: Said): void {
    const entry: Entry = { at: this.elapsed, ...said, text: this.clean(said.text) };
    this.entries.push(entry);
    this.onEntry(entry);
  }

  /** A line of a component's log: said once, then counted. A kubelet repeats itself ten times a second. */
  log(said: Omit<Said, 'kind'>): void {
    const text = this.clean(said.text);
    const key = [said.who, said.node, said.about, text].join('\n');
    const known = this.logs.get(key);
    if (known) {
      known.times = (known.times ?? 1) + 1;
      return;
    }
    const entry: Entry = { at: this.elapsed, ...said, kind: 'log', text };
    this.logs.set(key, entry);
    this.entries.push(entry);
    this.onEntry(entry);
  }

  call(said: Omit<Said, 'kind' | 'text'> & { method: string; request: object }): {
    end(code: string, message: string | undefined): void;
  } {
    const request = JSON.parse(this.clean(JSON.stringify(said.request))) as object;
    const entry: CallEntry = { at: this.elapsed, ...said, request, kind: 'call', text: said.method };
    this.entries.push(entry);
    return {
      end: (code, message) => {
        entry.code = code;
        if (message !== undefined) entry.message = this.clean(message);
        entry.durationMs = this.elapsed - entry.at;
        this.onEntry(entry);
      },
    };
  }

  get calls(): CallEntry[] {
    return this.entries.filter((entry): entry is CallEntry => entry.kind === 'call');
  }
}
