import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Driver } from '../../server/driver';
import { volumeViews } from '../../server/inspect';

/** From a call that touches nothing to one that waits out the two minutes that sidecars and the kubelet give it. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** What docs/control.md lists, in a registry of its own. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly calls: Counter<'method' | 'code'>;
  private readonly durations: Histogram<'method'>;

  constructor(driver: Driver) {
    const registers = [this.registry];
    const { engine, scenarios, env } = driver;
    this.calls = new Counter({
      name: 'fake_csi_calls_total',
      help: 'Calls that were answered, by method and code',
      labelNames: ['method', 'code'],
      registers,
    });
    this.durations = new Histogram({
      name: 'fake_csi_call_duration_seconds',
      help: 'From the arrival of a call to its answer',
      labelNames: ['method'],
      buckets: BUCKETS,
      registers,
    });
    new Counter({
      name: 'fake_csi_fires_total',
      help: 'Times that a rule fired',
      labelNames: ['scenario', 'rule'],
      registers,
      collect() {
        this.reset();
        for (const [name, fires] of engine.totals) {
          const slash = name.indexOf('/');
          this.inc({ scenario: name.slice(0, slash), rule: name.slice(slash + 1) }, fires);
        }
      },
    });
    new Gauge({
      name: 'fake_csi_held_calls',
      help: 'Calls that wait now because a rule says so',
      labelNames: ['kind'],
      registers,
      collect() {
        const held = engine.held.list();
        for (const kind of ['delay', 'hang'])
          this.set({ kind }, held.filter((call) => call.kind === kind).length);
      },
    });
    new Gauge({
      name: 'fake_csi_volumes',
      help: 'Volumes in the data folder, by the furthest they have come',
      labelNames: ['state'],
      registers,
      collect() {
        const states = volumeViews(env).map(({ state }) => state);
        for (const state of ['created', 'attached', 'staged', 'published'])
          this.set({ state }, states.filter((one) => one === state).length);
      },
    });
    new Gauge({
      name: 'fake_csi_scenarios',
      help: 'Loaded scenarios',
      labelNames: ['armed'],
      registers,
      collect() {
        const all = engine.status();
        for (const armed of [true, false])
          this.set({ armed: String(armed) }, all.filter((one) => one.armed === armed).length);
      },
    });
    new Counter({
      name: 'fake_csi_scenario_reload_failures_total',
      help: 'Times that a scenario file was read and had errors; its last good text went on acting',
      registers,
      collect() {
        this.reset();
        this.inc(scenarios.failures);
      },
    });
  }

  ended(method: string, code: string, seconds: number): void {
    this.calls.inc({ method, code });
    this.durations.observe({ method }, seconds);
  }

  async text(): Promise<{ type: string; text: string }> {
    return { type: this.registry.contentType, text: await this.registry.metrics() };
  }
}
