import { CsiError } from '../../src/csi/status';
import type { TestDriver } from '../support/driver';
import { TestGate } from '../support/gate';
import { MIB, mountCapability } from '../support/lifecycle';
import {
  Answers,
  confidence,
  FLAG,
  filesOf,
  lifecycle,
  logOf,
  SECRET,
  secrets,
  withSecrets,
} from './confidential-support';
import { conformance } from './harness';
import { minimal } from './requests';

conformance('what is said in confidence', (bench) => {
  /**
   * xfs grows while it is mounted wherever tests run. No kernel takes a word with a value of anybody's choice, but the
   * model does.
   */
  const volume = bench.target.real
    ? { size: 320 * MIB, capability: mountCapability({ fsType: 'xfs', mountFlags: ['noatime'] }) }
    : { size: 64 * MIB, capability: mountCapability({ mountFlags: ['noatime', `journal_path=/${FLAG}`] }) };

  describe.each(['debug', 'info', 'warn', 'error'])('at the log level %s', (level) => {
    let printed = '';
    beforeEach(() => {
      printed = '';
      for (const stream of [process.stdout, process.stderr])
        jest.spyOn(stream, 'write').mockImplementation((chunk) => {
          printed += chunk;
          return true;
        });
    });
    afterEach(() => jest.restoreAllMocks());

    /** Runs `work` and gathers everything that is left of it anywhere, before and after the driver has stopped. */
    const traces = async (
      faults: TestGate,
      work: (driver: TestDriver, answers: Answers) => Promise<void>,
    ) => {
      const { log, text } = logOf(level);
      const driver = await bench.start({ log, faults });
      const answers = new Answers();
      await work(driver, answers);
      const inMemory = JSON.stringify(driver.driver.journal.entries());
      const running = await filesOf(driver.dataDir);
      await driver.stop();
      const logged = text();
      const stopped = await filesOf(driver.dataDir);
      return {
        answers,
        logged,
        journal: inMemory,
        all: [logged, inMemory, running, stopped, printed, answers.text].join('\n'),
        notForClients: [logged, inMemory, running, stopped, printed].join('\n'),
      };
    };

    test('T11, T12 every RPC with secrets that succeeds', async () => {
      const found = await traces(new TestGate(), (driver, answers) => lifecycle(driver, answers, volume));
      expect(Object.fromEntries(found.answers.codes)).toEqual(
        Object.fromEntries(withSecrets.map((method) => [method, ['OK']])),
      );
      // What was looked at is what is written: the calls are there, only their secrets are not.
      for (const method of withSecrets) expect(found.journal).toContain(`"method":"${method}"`);
      expect(found.journal).toContain('***stripped***');
      expect(found.all).not.toContain(SECRET);
      expect(found.notForClients).not.toContain(FLAG);
    });

    test('T11, T12 every RPC with secrets that is refused', async () => {
      const capability = mountCapability({ mountFlags: [`secret=${FLAG}`, FLAG], fsType: 'nonsense' });
      const found = await traces(new TestGate(), async (driver, answers) => {
        const { volume } = await driver.csi.CreateVolume({
          name: 'v',
          volume_capabilities: [mountCapability()],
        });
        for (const method of withSecrets) {
          const send = (fields: object) =>
            answers.of(method, driver.csi[method]({ ...minimal[method], secrets, ...fields } as never));
          await send({});
          // Broken in a field, in a capability, in the secrets themselves, and refused by the volume.
          await send({ volume_id: 'x'.repeat(129), name: 'x'.repeat(129), snapshot_id: 'x'.repeat(129) });
          await send({ secrets: { ...secrets, 'bad key': SECRET } });
          await send({ secrets: { ...secrets, long: `${SECRET}${'x'.repeat(4096)}` } });
          await send({ volume_capability: capability, volume_capabilities: [capability] });
          await send({
            volume_id: volume?.volume_id,
            volume_capability: capability,
            volume_capabilities: [capability],
          });
        }
      });
      for (const method of withSecrets)
        expect(found.answers.codes.get(method)?.filter((code) => code !== 'OK').length).toBeGreaterThan(1);
      expect(found.all).not.toContain(SECRET);
      expect(found.notForClients).not.toContain(FLAG);
    });

    test('T12 a mount that its flags make fail: the client is told the flag, nobody else is', async () => {
      const volume_capability = mountCapability({ mountFlags: [`${FLAG}=${FLAG}-value`] });
      const found = await traces(new TestGate(), async (driver, answers) => {
        const { volume } = await driver.csi.CreateVolume({
          name: 'v',
          volume_capabilities: [volume_capability],
        });
        const volume_id = volume?.volume_id ?? '';
        const attach = { volume_id, node_id: 'node-1', volume_capability };
        const { publish_context } = await driver.csi.ControllerPublishVolume(attach);
        const staging_target_path = await driver.folder('staging');
        const stage = { volume_id, volume_capability, publish_context, staging_target_path, secrets };
        await answers.of('NodeStageVolume', driver.csi.NodeStageVolume(stage));
      });
      expect(found.answers.codes.get('NodeStageVolume')).toEqual(['INVALID_ARGUMENT']);
      expect(found.answers.text).toContain('mount_flags');
      expect(found.all).not.toContain(SECRET);
      expect(found.notForClients).not.toContain(FLAG);
    });

    test.each([
      ['before', 'a failure that repeats what the request said'],
      ['after', 'an answer that is lost'],
    ])('T11, T12 every RPC with secrets that a rule ends %s', async (point, what) => {
      const gate = new TestGate();
      const errors = [
        (said: string) => new CsiError(14, said),
        (said: string) => new Error(said),
        (said: string) => Object.assign(new Error(said), { code: 'ENOSPC' }),
      ];
      let count = 0;
      for (const method of withSecrets)
        gate.at(method, point, async (call) => {
          throw errors[count++ % errors.length]?.(`${what}: ${confidence(call.request)}`);
        });
      const withFlag = mountCapability({ mountFlags: [FLAG] });
      const found = await traces(gate, async (driver, answers) => {
        if (point === 'after') return lifecycle(driver, answers, volume);
        for (const method of withSecrets)
          for (const _error of errors)
            await answers.of(
              method,
              driver.csi[method]({
                ...minimal[method],
                volume_capability: withFlag,
                volume_capabilities: [withFlag],
                secrets,
              } as never),
            );
      });
      expect([...found.answers.codes.keys()].sort()).toEqual([...withSecrets].sort());
      expect([...found.answers.codes.values()].flat()).not.toContain('OK');
      expect(found.answers.text).toContain(what);
      expect(found.all).not.toContain(SECRET);
      expect(found.notForClients).not.toContain(FLAG);
    });

    test.each(['attached', 'mounted', 'beforeMount'])('T11 a failure in mid-work at %s', async (point) => {
      const gate = new TestGate();
      for (const method of ['NodeStageVolume', 'NodePublishVolume'] as const)
        gate.at(method, point, async () => {
          throw new Error(`the tool said: -o pass=${SECRET}`);
        });
      const found = await traces(gate, (driver, answers) => lifecycle(driver, answers, volume));
      expect([...found.answers.codes.values()].flat()).toContain('INTERNAL');
      expect(found.all).not.toContain(SECRET);
      expect(found.notForClients).not.toContain(FLAG);
    });

    test('service-account tokens in volume_context and in secrets', async () => {
      const key = 'csi.storage.k8s.io/serviceAccount.tokens';
      const tokens = { [key]: JSON.stringify({ audience: { token: SECRET } }) };
      const found = await traces(new TestGate(), async (driver, answers) => {
        const target_path = await driver.target('inline');
        const request = {
          volume_id: 'inline',
          target_path,
          volume_capability: mountCapability(),
          volume_context: { ...tokens, 'csi.storage.k8s.io/ephemeral': 'true', size: '64Mi' },
          secrets: tokens,
        };
        await answers.of('NodePublishVolume', driver.csi.NodePublishVolume(request));
        await driver.csi.NodeUnpublishVolume({ volume_id: 'inline', target_path });
      });
      expect(found.answers.codes.get('NodePublishVolume')).toEqual(['OK']);
      expect(found.all).not.toContain(SECRET);
    });
  });
});
