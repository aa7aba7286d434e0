import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { KINDS } from '../../support/kinds';
import { createVolume, dispose, publish, stage } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { lastAnswer, scenarioText } from '../../support/scenario-driver';
import { WRONG_FS } from './conditions';

const machine = useMachine();

it('a rule puts a foreign filesystem on the disk twice; the third stage finds the volume', async () => {
  const file = path.join(machine.folder(), 'wrong-fstype.yaml');
  const rule = [
    '  rules:',
    '  - name: foreign',
    '    match: {rpc: NodeStageVolume, volume: {fsType: ext4}}',
    '    when: {per: volume, times: 2}',
    '    then: [{disk: {foreignFs: xfs}}]',
  ];
  await fs.writeFile(file, scenarioText('wrong-fstype', rule.join('\n')));
  const driver = await machine.start({ scenarios: [file] });
  const options = KINDS.ext4.options();
  const id = await createVolume(driver, options);
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(stage(driver, id, options)).rejects.toMatchObject({
      code: Code.INTERNAL,
      message: expect.stringMatching(WRONG_FS),
    });
    expect(lastAnswer(driver, 'NodeStageVolume')).toMatchObject({
      code: 'INTERNAL',
      fired: ['wrong-fstype/foreign'],
      effects: expect.arrayContaining([expect.stringContaining('the disk holds xfs')]),
    });
  }
  const used = await stage(driver, id, options);
  expect(lastAnswer(driver, 'NodeStageVolume').fired).toEqual([]);
  await publish(driver, used);
  await dispose(driver, used);
});
