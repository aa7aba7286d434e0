import { until } from '../../support/until';
import { type Controlled, probe, startControlled } from './support';

let it_: Controlled;
beforeEach(async () => {
  it_ = await startControlled();
});
afterEach(() => it_.close());

const HUNG = 100;

it('answers while a hundred calls hang, and reset ends them', async () => {
  const { control } = it_;
  await control.rule('Probe: hang(release)', { name: 'stuck' });
  const hung = Array.from({ length: HUNG }, () => probe(it_));
  await until(`${HUNG} calls hang`, async () => (await control.held()).calls.length >= HUNG);
  expect((await control.status()).processes).toMatchObject([{ held: { hang: HUNG, delay: 0 } }]);
  expect((await control.scenario('stuck')).scenario.active).toBe(HUNG);
  expect(await control.calls()).toHaveLength(HUNG);
  expect(await control.metrics()).toContain(`fake_csi_held_calls{kind="hang"} ${HUNG}`);
  await control.reset();
  expect(await Promise.all(hung)).toEqual(Array(HUNG).fill('OK'));
  expect((await control.held()).calls).toEqual([]);
});
