import type { Method } from '../csi/rpcs';
import type { AnsweredEntry, Miss, PodNames, PvcNames, ReceivedEntry } from './entry';
import type { TimelineEntry } from './merge';

/** A call as one: what was received and, once there, what was answered. */
export interface JournalCall {
  readonly process: string;
  /** Its number, unique in its process. */
  readonly call: number;
  /** Of its arrival. */
  readonly seq: number;
  readonly method: Method;
  /** CreateVolume has it from its answer. */
  volumeId?: string;
  /** Named by the call or, for a node's own calls, the node that served it. */
  nodeId?: string;
  pvc?: PvcNames;
  pod?: PodNames;
  readonly stagingTargetPath?: string;
  readonly targetPath?: string;
  /** Wall time of its arrival, ISO 8601. */
  readonly at: string;
  /** The same in milliseconds since the epoch. */
  readonly atMs: number;
  /** Monotonic milliseconds of its process at its arrival. */
  readonly mono: number;
  readonly timeoutMs?: number;
  readonly request: object;
  code?: string;
  message?: string;
  durationMs?: number;
  response?: object;
  effects: readonly string[];
  /** `scenario/rule` */
  fired: readonly string[];
  misses: readonly Miss[];
  abandoned?: boolean;
  /** It runs. */
  pending: boolean;
  /** Its process ended before it answered. */
  lost?: boolean;
  /** Number in its process and wall time of the entry that ended it: its answer, or the next start. */
  endedSeq?: number;
  endedAtMs?: number;
}

/** What became of a call by an entry. */
export interface CallChange {
  readonly call: JournalCall;
  readonly change: 'received' | 'answered' | 'lost';
}

/** A registration is a node's, too. */
const NODE_SERVICE = /^(Node|GetInfo$|NotifyRegistrationStatus$)/;

/**
 * Joins the entries of a timeline, in its order, to calls. Keeps the calls that run, and what tells of which node a
 * process is and which claim a volume is for.
 */
export class CallJoiner {
  private readonly running = new Map<string, Map<number, JournalCall>>();
  private readonly nodes = new Map<string, string>();

  /** @returns what changed: one call for a call's entry, the ones that were cut off for a start, else nothing. */
  add(entry: TimelineEntry): CallChange[] {
    switch (entry.type) {
      case 'received':
        return this.receive(entry);
      case 'answered':
        return this.answer(entry);
      case 'event':
        if (entry.event === 'started') return this.restart(entry);
        if (entry.event === 'fired') this.noteFire(entry);
        return [];
    }
  }

  /** Calls that were received and not answered. */
  *pending(): Generator<JournalCall> {
    for (const calls of this.running.values()) yield* calls.values();
  }

  private callsOf(process: string): Map<number, JournalCall> {
    let calls = this.running.get(process);
    if (!calls) {
      calls = new Map();
      this.running.set(process, calls);
    }
    return calls;
  }

  private receive(entry: ReceivedEntry & { process: string }): CallChange[] {
    const { process, seq, method, at, mono, volumeId, stagingTargetPath, targetPath, timeoutMs } = entry;
    const call: JournalCall = {
      process,
      call: entry.call,
      seq,
      method,
      at,
      atMs: Date.parse(at),
      mono,
      request: entry.request,
      effects: [],
      fired: [],
      misses: [],
      pending: true,
      ...(stagingTargetPath !== undefined && { stagingTargetPath }),
      ...(targetPath !== undefined && { targetPath }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
    const nodeId = entry.nodeId ?? this.nodeOf(entry);
    if (nodeId !== undefined) call.nodeId = nodeId;
    if (volumeId !== undefined) call.volumeId = volumeId;
    if (entry.pvc) call.pvc = entry.pvc;
    if (entry.pod) call.pod = entry.pod;
    this.callsOf(entry.process).set(entry.call, call);
    return [{ call, change: 'received' }];
  }

  private nodeOf({ method, process }: { method: string; process: string }): string | undefined {
    return NODE_SERVICE.test(method) ? this.nodes.get(process) : undefined;
  }

  private answer(entry: AnsweredEntry & { process: string }): CallChange[] {
    const calls = this.callsOf(entry.process);
    const call = calls.get(entry.call);
    // Its arrival is in a file that is gone, or before what is read.
    if (!call || call.method !== entry.method) return [];
    calls.delete(entry.call);
    const { response } = entry;
    // Field by field: a long journal has hundreds of thousands of these, and copying is most of the work.
    call.code = entry.code;
    call.durationMs = entry.durationMs;
    call.effects = entry.effects;
    call.fired = entry.fired;
    call.misses = entry.misses ?? [];
    call.pending = false;
    call.endedSeq = entry.seq;
    call.endedAtMs = Date.parse(entry.at);
    if (entry.message !== undefined) call.message = entry.message;
    if (response !== undefined) call.response = response;
    if (entry.abandoned) call.abandoned = true;
    const volumeId = call.volumeId ?? entry.volumeId ?? createdId(response);
    if (volumeId !== undefined) call.volumeId = volumeId;
    if (entry.pvc) call.pvc = entry.pvc;
    if (entry.pod) call.pod = entry.pod;
    if (call.method === 'NodeGetInfo') this.learnNode(entry.process, (response as InfoResponse)?.node_id);
    return [{ call, change: 'answered' }];
  }

  /** Of a call that is never answered, since the rule ends the process: nothing else tells of it. */
  private noteFire({ process, details }: { process: string; details: object }): void {
    const { rule, call: number } = details as { rule?: unknown; call?: unknown };
    const call = typeof number === 'number' ? this.callsOf(process).get(number) : undefined;
    if (call && typeof rule === 'string') call.fired = [...call.fired, rule];
  }

  private restart(entry: TimelineEntry & { details: object }): CallChange[] {
    this.learnNode(entry.process, (entry.details as { nodeId?: unknown } | null)?.nodeId);
    const calls = this.callsOf(entry.process);
    const lost = [...calls.values()];
    calls.clear();
    for (const call of lost)
      Object.assign(call, {
        pending: false,
        lost: true,
        endedSeq: entry.seq,
        endedAtMs: Date.parse(entry.at),
      });
    return lost.map((call) => ({ call, change: 'lost' }));
  }

  private learnNode(process: string, nodeId: unknown): void {
    if (typeof nodeId === 'string') this.nodes.set(process, nodeId);
  }
}

interface InfoResponse {
  node_id?: string;
}

function createdId(response: object | undefined): string | undefined {
  const id = (response as { volume?: { volume_id?: unknown } } | undefined)?.volume?.volume_id;
  return typeof id === 'string' ? id : undefined;
}
