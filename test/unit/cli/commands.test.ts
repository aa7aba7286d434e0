import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { type CsiClient, connectCsi } from '../../../src/csi/client';
import { runCli, spawnCli, useServing } from '../../support/cli';
import { scenarioText } from '../../support/scenario-driver';
import { until } from '../../support/until';

jest.setTimeout(60_000);

const serving = useServing();
let csi: CsiClient;
beforeAll(() => {
  csi = connectCsi(serving.socket);
});
afterAll(() => csi.close());

const cli = (...words: string[]) => runCli([...words, '--data-dir', serving.dataDir]);
const answer = (call: Promise<unknown>) =>
  call.then(
    () => 'OK',
    (error: Error) => error.message,
  );

it('fails twice with DEADLINE_EXCEEDED, once with ABORTED, then works, and verify says so', async () => {
  const text = 'NodeGetInfo: 2*DEADLINE_EXCEEDED(late) -> 1*ABORTED(pending) -> ok';
  expect(await cli('rule', text, '--ttl', '10m', '--name', 'lately')).toMatchObject({
    code: 0,
    out: expect.stringContaining('armed lately'),
  });
  await cli('mark', 'begin');
  const expectations = path.join(serving.dataDir, 'expectations.yaml');
  await fs.writeFile(
    expectations,
    [
      'expect:',
      '- {count: 2, rpc: NodeGetInfo, code: DEADLINE_EXCEEDED}',
      '- {count: 1, rpc: NodeGetInfo, code: ABORTED}',
      '- {count: ">=1", rpc: NodeGetInfo, code: OK}',
      '- {fired: {rule: lately/rule, times: ">=3"}}',
    ].join('\n'),
  );
  const junit = path.join(serving.dataDir, 'out.xml');
  const before = await cli('verify', expectations, '--since', 'begin', '--junit', junit);
  expect(before).toMatchObject({ code: 1, out: expect.stringContaining('never fired') });
  expect(await fs.readFile(junit, 'utf8')).toContain('failures="4"');

  const answers: string[] = [];
  for (let call = 0; call < 4; call += 1) answers.push(await answer(csi.NodeGetInfo()));
  expect(answers).toEqual([
    expect.stringMatching(/^\[scenario lately: rule .*, 1 of 2\] late$/),
    expect.stringMatching(/2 of 2\] late$/),
    expect.stringMatching(/1 of 1\] pending$/),
    'OK',
  ]);
  const after = await cli('verify', expectations, '--since', 'begin', '--junit', junit);
  expect(after).toMatchObject({ code: 0, out: expect.stringContaining('passed: 4 of 4') });
  expect(await fs.readFile(junit, 'utf8')).toContain('failures="0"');
  await cli('scenario', 'remove', 'lately');
});

it('arms, lists, shows, disarms and removes a file', async () => {
  const file = path.join(serving.dataDir, 'mine.yaml');
  const spec = '  rules: [{name: r, match: {rpc: Probe}, then: [{error: {code: INTERNAL, message: m}}]}]';
  await fs.writeFile(file, scenarioText('mine', spec));
  expect((await cli('scenario', 'arm', file)).out).toBe(`armed mine from ${file}\n`);
  expect(await answer(csi.Probe())).toBe('[scenario mine: rule r, 1] m');
  expect((await cli('scenario', 'list')).out).toMatch(/mine +armed +1 .* r:1 /);
  expect((await cli('scenario', 'show', 'mine')).out).toContain(spec);
  await cli('scenario', 'disarm', 'mine');
  expect(await answer(csi.Probe())).toBe('OK');
  await cli('scenario', 'arm', 'mine');
  expect(await answer(csi.Probe())).toBe('[scenario mine: rule r, 1] m');
  expect(await cli('scenario', 'remove', 'mine')).toMatchObject({ code: 0 });
  expect(await cli('scenario', 'disarm', 'mine')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no scenario "mine"'),
  });
});

it('does not say that it armed what rests', async () => {
  const file = path.join(serving.dataDir, 'rests.yaml');
  const rule = (name: string) =>
    `  rules: [{name: ${name}, match: {rpc: Probe}, then: [{error: {code: INTERNAL, message: m}}]}]`;
  await fs.writeFile(
    file,
    `${scenarioText('rests', `  enabled: false\n${rule('r')}`)}---\n${scenarioText('acts', rule('a'))}`,
  );
  expect((await cli('scenario', 'arm', file)).out.split('\n')).toEqual([
    `armed acts from ${file}`,
    expect.stringMatching(/^loaded rests from .*enabled: false.*`fake-csi scenario arm rests`/),
    '',
  ]);
  await cli('scenario', 'arm', 'rests');
  expect((await cli('scenario', 'list')).out).toMatch(/rests +armed/);
  await cli('scenario', 'remove', 'rests', 'acts');
});

it('explains why no rule fired for a call', async () => {
  await cli('rule', 'CreateVolume class=slow: ABORTED', '--name', 'near');
  await csi.CreateVolume({
    name: 'v',
    parameters: { storageClass: 'fast', 'csi.storage.k8s.io/pvc/name': 'data-0' },
    volume_capabilities: [{ mount: {}, access_mode: { mode: 1 } }],
  });
  const { out } = await cli('calls', '--rpc', 'CreateVolume', '--json');
  const [{ call }] = JSON.parse(out) as [{ call: number }];
  expect((await cli('explain', `${call}`)).out).toContain('volume.storageClass was "fast", wanted "slow"');
  expect((await cli('volumes')).out).toMatch(/\/data-0 +created/);
  await cli('scenario', 'remove', 'near');
});

it('releases what hangs and shows it in the status before', async () => {
  await cli('rule', 'NodeGetInfo: hang(release)', '--name', 'hung');
  const hung = csi.NodeGetInfo();
  await until('the status shows it', async () => (await cli('status')).out.includes('hang of NodeGetInfo'));
  expect((await cli('release')).out).toBe('let go of 1 call\n');
  await hung;
  expect(await cli('reset')).toMatchObject({ code: 0, out: 'reset every scenario\n' });
  await cli('scenario', 'remove', 'hung');
});

it('follows the calls until it is told to end', async () => {
  const child = spawnCli(['calls', '-f', '--rpc', 'NodeGetInfo', '--data-dir', serving.dataDir]);
  const line = new Promise<string>((resolve) =>
    child.stdout?.once('data', (data: Buffer) => resolve(`${data}`)),
  );
  const calling = (async () => {
    while (child.exitCode === null && !child.killed) await csi.NodeGetInfo();
  })();
  expect(await line).toMatch(/^call \d+ at \S+ NodeGetInfo OK/);
  child.kill('SIGTERM');
  await calling;
  await new Promise((resolve) =>
    child.exitCode === null ? child.once('exit', resolve) : resolve(undefined),
  );
  expect(child.exitCode).toBe(0);
});

it('says in one line what is wrong, with the exit code for it', async () => {
  expect(await runCli(['status', '--data-dir', '/nonexistent'])).toMatchObject({
    code: 3,
    err: expect.stringContaining('start `fake-csi serve'),
  });
  expect(await runCli(['scenaro'])).toMatchObject({ code: 2, err: expect.stringContaining('scenario') });
  expect(await cli('verify', '/nonexistent.yaml')).toMatchObject({ code: 1 });
  for (const words of [['scenario', 'arm'], ['verify'], ['explain', 'x'], ['calls', '--limit', 'x']])
    expect(await cli(...words)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^fake-csi: .*expected/),
    });
  const file = path.join(serving.dataDir, 'wrong.yaml');
  await fs.writeFile(
    file,
    scenarioText('wrong', '  rules: [{name: r, match: {rpc: Probe}, when: {tims: 2}, then: [{delay: 5s}]}]'),
  );
  const { code, out } = await runCli(['scenario', 'validate', file]);
  expect(code).toBe(1);
  expect(out).toMatch(/wrong\.yaml:5:\d+: rules\.0\.when: unknown key "tims" \(did you mean "times"\?\)\n/);
});
