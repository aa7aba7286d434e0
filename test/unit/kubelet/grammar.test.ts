import { parseSteps } from '../../../src/kubelet/steps/grammar';

const one = (text: string) => parseSteps(text)[0];

test('steps are separated by semicolons or lines, and a # begins a comment', () => {
  expect(parseSteps('create; wait running\nadvance 2m3s # patience').map(({ kind }) => kind)).toEqual([
    'create',
    'wait',
    'advance',
  ]);
  expect(one('advance 2m3s')).toMatchObject({ ms: 123_000 });
});

test('conditions', () => {
  expect(one('wait event FailedMount web within 90s')).toMatchObject({
    condition: { kind: 'event', reason: 'FailedMount', object: 'web' },
    withinMs: 90_000,
  });
  expect(one('assert not calls NodeUnstageVolume OK >=2')).toMatchObject({
    condition: {
      kind: 'not',
      condition: { kind: 'calls', method: 'NodeUnstageVolume', code: 'OK', comparison: '>=', count: 2 },
    },
  });
  expect(one('assert state data stage-uncertain')).toMatchObject({
    condition: { kind: 'state', subject: 'data', state: 'stage-uncertain' },
  });
});

test.each([
  ['wiat running', /expected one of create, delete/],
  ['wait', /expected a condition: running/],
  ['wait running within', /expected wait <condition> \[within <duration>\]/],
  ['advance fast', /expected a duration such as 500ms/],
  ['kubelet reboot', /expected kubelet stop\|start\|restart/],
  ['state data happy', /expected one of create/],
  ['assert state data happy', /bound\|attached/],
  ['expand data', /expected expand <claim> <size>/],
  ['expand data much', /expected expand <claim> <size>/],
  ['vol-data remove', /expected vol-data remove\|empty\|corrupt <pod>/],
  ['', /expected at least one step/],
])('%j is refused', (text, message) => {
  expect(() => parseSteps(text)).toThrow(message);
});

test.each([
  [
    'wait calls NodeStageVolum',
    /expected the name of an RPC, such as NodeStageVolume; found "NodeStageVolum"/,
  ],
  ['assert calls NodeStageVolume INTERNL', /expected calls <Method>/],
])('%s names nothing that there is: said before anything is played', (text, message) => {
  expect(() => parseSteps(text)).toThrow(message);
});

test.each(['GetInfo', 'NotifyRegistrationStatus INTERNAL', 'GroupControllerGetCapabilities OK', 'Probe'])(
  'calls of %s can be counted',
  (what) => {
    expect(parseSteps(`assert calls ${what} =0`)).toHaveLength(1);
  },
);
