import { Code } from '../../../src/csi/status';
import { TestGate } from '../../support/gate';
import { KINDS } from '../../support/kinds';
import { createVolume, release, type UsedVolume } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

describe.each([KINDS.ext4, KINDS.xfs])('BL-041, BL-042: a $name disk that is being formatted', (kind) => {
  it('is neither formatted nor said to be staged by a second stage, though the first client gave up', async () => {
    const gate = new TestGate();
    const driver = await machine.start({ faults: gate });
    const id = await createVolume(driver, kind.options());
    const capability = kind.options().capability ?? {};
    const { node_id } = await driver.csi.NodeGetInfo();
    const { publish_context: publishContext } = await driver.csi.ControllerPublishVolume({
      volume_id: id,
      node_id,
      volume_capability: capability,
    });
    const staging = await driver.folder(`${id}-staging`);
    const used: UsedVolume = { id, staging, target: await driver.target(id), publishContext, capability };
    const stage = (options = {}) =>
      driver.csi.NodeStageVolume(
        {
          volume_id: id,
          publish_context: publishContext,
          staging_target_path: staging,
          volume_capability: capability,
        },
        options,
      );
    let proceed: () => void = () => undefined;
    const formatted = new Promise<void>((arrived) => {
      // Deaf to the client's going away, as mkfs is.
      gate.at('NodeStageVolume', 'formatted', async () => {
        arrived();
        await new Promise<void>((resolve) => {
          proceed = resolve;
        });
      });
    });
    const gone = new AbortController();
    const first = stage({ signal: gone.signal });
    await formatted;
    const pending = { code: Code.ABORTED, message: expect.stringContaining('pending: NodeStageVolume') };
    await expect(stage()).rejects.toMatchObject(pending);
    gone.abort();
    await expect(first).rejects.toMatchObject({ code: Code.CANCELLED });
    await expect(stage()).rejects.toMatchObject(pending);
    proceed();
    for (let busy = true; busy; )
      busy = await stage().then(
        () => false,
        (error) => {
          expect(error).toMatchObject({ code: Code.ABORTED });
          return true;
        },
      );
    expect(gate.passed.filter((point) => point === 'NodeStageVolume.formatted')).toHaveLength(1);
    expect(await machine.mountsAt(staging)).toHaveLength(1);
    await release(driver, used);
    await driver.stop();
  });
});
