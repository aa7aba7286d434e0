import { RegisteredDriver, type StageOptions } from '../../../support/registered-driver';

export const DRIVER = 'fake.csi.test';
export const SOCKET = 'fake.csi.test-reg.sock';

/** Drivers that register themselves with a kubelet, gone after every test. */
export function useStages(): (options?: StageOptions) => Promise<RegisteredDriver> {
  let stages: RegisteredDriver[] = [];
  afterEach(async () => {
    for (const stage of stages) await stage.close();
    stages = [];
  });
  return async (options = {}) => {
    const stage = await RegisteredDriver.start(options);
    stages.push(stage);
    return stage;
  };
}

export const state = (stage: RegisteredDriver) => stage.driver.driver.registration?.status().state;
