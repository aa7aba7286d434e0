import * as path from 'node:path';
import { Timeline } from '../../../src/journal/timeline';
import { verify } from '../../../src/scenarios/verdict/verify';
import { galleryFile } from '../../support/gallery-files';
import { RegisteredDriver, type StageOptions } from '../../support/registered-driver';

const DRIVER = 'fake.csi.test';
const SECOND = 'fake.csi.test-reg2.sock';

/** A scenario of the gallery before a kubelet that looks for plugins; at the end the scenario's own expectations. */
function scene(
  name: string,
  title: string,
  play: (stage: RegisteredDriver) => Promise<void>,
  options: StageOptions = {},
): void {
  it(`${name} ${title}`, async () => {
    const stage = await RegisteredDriver.start({ file: galleryFile(name), ...options });
    try {
      await play(stage);
      const { driver, dataDir } = stage.driver;
      const expectations = driver.engine.scenario(name)?.expect ?? [];
      const { results } = await verify({
        expectations,
        scenario: name,
        timeline: new Timeline({
          folder: path.join(dataDir, 'journal'),
          clock: stage.clock,
          live: { process: driver.processName, journal: driver.journal },
        }),
        waitMs: 0,
        clock: stage.clock,
      });
      expect(results.filter(({ status }) => status !== 'passed').map(({ summary }) => summary)).toEqual([]);
      const nothing = { follow: async function* () {} };
      const idle = await verify({
        expectations,
        scenario: name,
        timeline: nothing,
        waitMs: 0,
        clock: stage.clock,
      });
      expect(idle.passed).toBe(false);
    } finally {
      await stage.close();
    }
  }, 20_000);
}

/** Seconds at which the driver was registered, and at which it was gone. */
const registrations = ({ kubelet }: RegisteredDriver) =>
  kubelet.log.flatMap(({ what, at }) =>
    what === 'registered' || what === 'unregistered' ? [`${what} ${Math.round(at / 1000)}`] : [],
  );

const reasons = ({ kubelet }: RegisteredDriver, what: string) =>
  kubelet.log.flatMap((entry) => (entry.what === what ? [entry.why] : []));

scene('registration-late', 'is asked four times before it answers in time', async (stage) => {
  await stage.pass(30_000);
  expect(reasons(stage, 'failed')).toEqual(
    Array(3).fill('failed to get plugin info using RPC GetInfo: context deadline exceeded'),
  );
  expect(stage.kubelet.has(DRIVER)).toBe(true);
  const answers = stage.driver.driver.journal
    .entries()
    .flatMap((entry) => (entry.type === 'answered' && entry.method === 'GetInfo' ? [entry.code] : []));
  expect(answers.at(-1)).toBe('OK');
  expect(answers.slice(0, 3)).not.toContain('OK');
});

scene('registration-wrong-type', 'is refused twice for its type', async (stage) => {
  await stage.pass(10_000);
  expect(reasons(stage, 'refused')).toEqual(
    Array(2).fill('no handler registered for plugin type: DRAPlugin2'),
  );
  expect(stage.events('registrationRefused')[0]?.advice).toContain('GetInfo named no type');
});

scene('registration-unsupported-version', 'is refused for each version it makes up', async (stage) => {
  await stage.pass(15_000);
  expect(reasons(stage, 'refused')).toEqual([
    expect.stringContaining('none of the versions specified ["2.0.0"]'),
    expect.stringContaining('none of the versions specified ["latest"]'),
    expect.stringContaining('list of supported versions is empty'),
  ]);
  expect(stage.events('registrationRefused').map(({ advice }) => advice)).toEqual(
    Array(3).fill(expect.stringContaining('no version that this kubelet takes')),
  );
});

scene('registration-refused', 'loops until it takes the verdict', async (stage) => {
  await stage.pass(15_000);
  expect(reasons(stage, 'failed')).toHaveLength(3);
  expect(reasons(stage, 'failed')[0]).toContain('not now');
  expect(stage.kubelet.has(DRIVER)).toBe(true);
});

scene('registration-socket-gone', 'takes the driver from the kubelet for a minute', async (stage) => {
  await stage.pass(100_000);
  expect(registrations(stage)).toEqual(['registered 1', 'unregistered 31', 'registered 91']);
  expect([...stage.kubelet.labels.keys()]).toEqual(['topology.fake.csi.test/zone']);
});

scene('registration-flap', 'comes and goes by time, with no call to wait for', async (stage) => {
  await stage.pass(120_000);
  expect(registrations(stage)).toEqual([
    'registered 1',
    'unregistered 41',
    'registered 56',
    'unregistered 96',
    'registered 111',
  ]);
});

scene('registration-second-owner', 'is refused beside the first, which stays', async (stage) => {
  await stage.pass(60_000);
  expect(await stage.files()).toContain(SECOND);
  expect(stage.kubelet.told(SECOND)).toMatch(/^created, asked, refused, failed, asked, refused/);
  expect(reasons(stage, 'refused')[0]).toContain('already registered with a higher supported version');
  expect(stage.driver.driver.registration?.status().state).toBe('registered');
  await stage.pass(70_000);
  expect(await stage.files()).not.toContain(SECOND);
  expect(registrations(stage)).toEqual(['registered 1']);
});

scene('registration-dead-socket', 'is dialled in vain, and found after the pause', async (stage) => {
  await stage.pass(55_000);
  expect(reasons(stage, 'failed').every((why) => why?.startsWith('failed to dial socket'))).toBe(true);
  expect(reasons(stage, 'failed').length).toBeGreaterThan(2);
  expect(stage.kubelet.has(DRIVER)).toBe(false);
  await stage.pass(65_000);
  expect(stage.kubelet.has(DRIVER)).toBe(true);
});
