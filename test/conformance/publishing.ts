import * as fs from 'node:fs/promises';
import { createVolume, mountCapability, stage } from '../support/lifecycle';
import { type Bench, outcome } from './harness';

let last = 0;

/** What the tests of NodePublishVolume do again and again. */
export const publishing = (bench: Bench) => ({
  /** A staged volume and the request that publishes it at a target of its own. */
  staged: async (capability = mountCapability()) => {
    const used = await stage(bench.driver, await createVolume(bench.driver, { capability }), { capability });
    const request = {
      volume_id: used.id,
      staging_target_path: used.staging,
      target_path: used.target,
      volume_capability: capability,
      publish_context: used.publishContext,
    };
    return { used, request };
  },
  call: (request: object) => outcome(bench.csi.NodePublishVolume(request)),
  /** What is mounted at a target. */
  at: (target: string) => bench.host.mounts.at(target),
  exists: (file: string) => fs.lstat(file).then(Boolean, () => false),
  newTarget: () => bench.driver.target(`t-${++last}`),
  /** A folder of a name of its own. */
  folder: () => bench.driver.folder(`f-${++last}`),
});
