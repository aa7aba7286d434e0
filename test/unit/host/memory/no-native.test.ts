import { MemoryMachine } from './machine';

jest.mock('koffi', () => {
  throw new Error('the memory host must not load native code');
});

test('no native code is loaded by a whole cycle', async () => {
  const machine = new MemoryMachine();
  const { target, device } = await machine.mounted('stage', 1n << 30n);
  await machine.bind(target, machine.makeFolder('pod'));
  await machine.host.mounts.unmount(machine.at('pod'));
  await machine.host.mounts.unmount(target);
  await device.release();
  await machine.host.loops.detach(device.index);
  expect(await machine.host.loops.list()).toEqual([]);
  machine.close();
});
