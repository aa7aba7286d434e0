import * as path from 'node:path';
import { silentLog } from '../../../support/driver';
import { RegistrationClient } from '../../../support/registration-client';
import { until } from '../../../support/until';
import { SOCKET, useStages } from './stages';

const start = useStages();

it('an old kubelet, whose :authority is a path, is told of in the log and in the status', async () => {
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => warned.push(message) };
  const stage = await start({ driver: { log } });
  const file = path.join(stage.registry, SOCKET);
  const old = new RegistrationClient(file, file);
  await expect(old.call('GetInfo', {}, new AbortController().signal)).rejects.toThrow(/RST_STREAM|PROTOCOL/);
  old.close();
  await until('somebody is warned', () => warned.length > 0);
  expect(warned).toEqual([expect.stringContaining('let node-driver-registrar register this driver')]);
  expect(stage.driver.driver.registration?.status()).toMatchObject({
    state: 'waiting',
    why: expect.stringContaining('one before 1.29'),
  });
  await stage.pass(1_000);
  expect(stage.driver.driver.registration?.status()).not.toHaveProperty('why');
});
