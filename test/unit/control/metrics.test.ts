import { readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { createVolume, use } from '../../support/lifecycle';
import { type Controlled, probe, raw, SCENARIO, startControlled } from './support';

let it_: Controlled;
beforeEach(async () => {
  it_ = await startControlled();
});
afterEach(() => it_.close());

const names = (text: string) => [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);

it('count calls from the start, fires, held calls, volumes, scenarios and failed reloads', async () => {
  await it_.control.putScenario(SCENARIO);
  await probe(it_);
  await createVolume(it_.test);
  await use(it_.test);
  const first = (await it_.control.metrics()).split('\n');
  expect(first).toEqual(
    expect.arrayContaining([
      'fake_csi_calls_total{method="Probe",code="UNAVAILABLE"} 1',
      'fake_csi_calls_total{method="CreateVolume",code="OK"} 2',
      'fake_csi_call_duration_seconds_count{method="CreateVolume"} 2',
      'fake_csi_call_duration_seconds_bucket{le="+Inf",method="CreateVolume"} 2',
      'fake_csi_fires_total{scenario="slow",rule="busy"} 1',
      'fake_csi_held_calls{kind="hang"} 0',
      'fake_csi_volumes{state="created"} 1',
      'fake_csi_volumes{state="published"} 1',
      'fake_csi_scenarios{armed="true"} 1',
      'fake_csi_scenario_reload_failures_total 0',
    ]),
  );
  await probe(it_);
  await it_.control.disarm('slow');
  writeFileSync(path.join(it_.test.dataDir, 'scenarios', 'slow.yaml'), 'nonsense');
  await it_.control.refresh();
  expect((await it_.control.metrics()).split('\n')).toEqual(
    expect.arrayContaining([
      'fake_csi_calls_total{method="Probe",code="UNAVAILABLE"} 2',
      'fake_csi_fires_total{scenario="slow",rule="busy"} 2',
      'fake_csi_scenarios{armed="false"} 1',
      'fake_csi_scenario_reload_failures_total 1',
    ]),
  );
});

it('stand under both paths in the text format, and in the documentation', async () => {
  const ask = (place: string) => raw({ socketPath: it_.server.socket ?? '' }, { path: place });
  const own = await ask('/metrics');
  expect(own.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect((await ask('/v1/metrics')).text).toBe(own.text);
  const documentation = readFileSync(path.join(__dirname, '../../../docs/control.md'), 'utf8');
  const documented = new Set([...documentation.matchAll(/`(fake_csi_\w+)/g)].map(([, name]) => name));
  expect(names(own.text).sort()).toEqual([...documented].sort());
});
