import { systemClock } from '../../../src/util/clock';

test('a sleep ends when its signal aborts, with the reason, and leaves no timer', async () => {
  const patience = new AbortController();
  const sleep = systemClock.sleep(3_600_000, patience.signal);
  patience.abort(new Error('enough'));
  await expect(sleep).rejects.toThrow('enough');
  await expect(systemClock.sleep(3_600_000, patience.signal)).rejects.toThrow('enough');
});

test('a sleep that ends by itself does not hold on to its signal', async () => {
  const patience = new AbortController();
  const listeners = jest.spyOn(patience.signal, 'removeEventListener');
  await systemClock.sleep(0, patience.signal);
  expect(listeners).toHaveBeenCalledWith('abort', expect.any(Function));
});
