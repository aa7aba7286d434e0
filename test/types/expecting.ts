// biome-ignore-all lint/suspicious/noThenProperty: `then` is the language's word for what a rule does.
/* Compiled by `npm run typecheck` and never run: what an author of tests may write, and what does not compile. */
import type { CsiError, FakeCsi, ScenarioHandle } from '../../src';
import '../../src/testing/jest';

export async function allowed(csi: FakeCsi): Promise<void> {
  await csi.expect({ rpc: 'NodeStageVolume' }).atLeast(2).within('30s');
  await csi.expect({ rpc: 'NodeStageVolume' }).exactly(2);
  await csi.expect({ code: 'OK', pvc: 'db/data-0' }).atMost(2).for('5s');
  await csi.expect().never().for(500);
  await csi
    .expect()
    .inOrder(['NodeStageVolume', { rpc: 'NodePublishVolume', code: 'OK' }])
    .within('5s');
  const [call] = await csi.expect({ volume: { pvc: { name: 'data-*' } } }).atLeast(1);
  const code: string | undefined = call?.code;
  expect(csi).toHaveReceived('NodeStageVolume', Number(code));
  await expect(csi).not.toHaveNoLeaks();
  await using rule: ScenarioHandle = await csi.rule('Probe: UNAVAILABLE');
  await rule.waitForFire({ times: 2, within: '1s' });
}

export async function refused(csi: FakeCsi): Promise<void> {
  // @ts-expect-error a time before a count
  await csi.expect({ rpc: 'Probe' }).within('5s');
  // @ts-expect-error two counts
  await csi.expect({ rpc: 'Probe' }).atLeast(1).atLeast(2);
  // @ts-expect-error two times
  await csi.expect({ rpc: 'Probe' }).atLeast(1).within('1s').within('2s');
  // @ts-expect-error never holds for a time, it is not reached within one
  await csi.expect({ rpc: 'Probe' }).never().within('5s');
  // @ts-expect-error a count is reached within a time
  await csi.expect({ rpc: 'Probe' }).exactly(1).for('5s');
  // @ts-expect-error no such key
  csi.calls({ method: 'Probe' });
  // @ts-expect-error no such step
  await csi.rule({ then: [{ dely: '5s' }] });
  // @ts-expect-error steps and a sequence
  await csi.rule({ then: [], sequence: 'ok' });
  // @ts-expect-error a rule that does nothing
  await csi.rule({ match: { rpc: 'Probe' } });
  // @ts-expect-error no such state
  await csi.rule({ match: { state: { volume: 'mounted' } }, sequence: 'ok' });
  // @ts-expect-error no such field
  await csi.client.CreateVolume({ nam: 'v' });
  // @ts-expect-error a matcher that asks the machine has to be awaited to say anything
  expect(csi).toHaveNoLeaks().toString.pass;
}

export const named = (error: CsiError): 'UNAVAILABLE' | boolean => error.codeName === 'UNAVAILABLE';
