import { Code } from '../../../src/csi/status';
import {
  checkSnapshotParameters,
  parseDuration,
  readAttributes,
  readMutableParameters,
  readVolumeParameters,
} from '../../../src/services/parameters';

const refused = expect.objectContaining({ code: Code.INVALID_ARGUMENT });

describe('readVolumeParameters', () => {
  it('tells our keys from mutable ones and from those of Kubernetes', () => {
    const parameters = {
      backend: 'tmpfs',
      groupable: 'false',
      readAheadKiB: '128',
      'csi.storage.k8s.io/pvc/name': 'claim',
      'csi.storage.k8s.io/pvc/namespace': 'space',
      'csi.storage.k8s.io/pv/name': 'pv',
      'csi.storage.k8s.io/fstype': 'xfs',
      'csi.storage.k8s.io/whatever': 'comes next',
    };
    expect(readVolumeParameters(parameters, { deletionProtection: 'true' })).toEqual({
      backend: 'tmpfs',
      own: { backend: 'tmpfs', groupable: 'false' },
      mutable: { readAheadKiB: '128', deletionProtection: 'true' },
      claim: { name: 'claim', namespace: 'space', volume: 'pv' },
      fsType: 'xfs',
    });
  });

  it('prefers mutable_parameters', () => {
    const { mutable } = readVolumeParameters({ readAheadKiB: '1' }, { readAheadKiB: '2' });
    expect(mutable).toEqual({ readAheadKiB: '2' });
  });

  it.each([
    [{ flavour: 'mint' }, {}, /parameters\["flavour"\]: unknown key; expected one of backend, scenario/],
    [{ backend: 'tape' }, {}, /expected one of loop, tmpfs, directory, memory, found "tape"/],
    [{ groupable: 'yes' }, {}, /expected true or false/],
    [{ scenario: 'Slow Disk' }, {}, /scenario name/],
    [{ readAheadKiB: '65537' }, {}, /KiB from 0 to 65536/],
    [{ toString: 'x' }, {}, /unknown key/],
    [{}, { backend: 'loop' }, /mutable_parameters\["backend"\]: unknown key/],
    [{}, { XXX_FakeKey: '' }, /mutable_parameters\["XXX_FakeKey"\]/],
  ])('refuses %j with %j and says what it expected', (parameters, mutable, says) => {
    const read = () =>
      readVolumeParameters(parameters as Record<string, string>, mutable as Record<string, string>);
    expect(read).toThrow(refused);
    expect(read).toThrow(says);
  });
});

describe('readMutableParameters', () => {
  it('keeps our own keys only', () => {
    expect(readMutableParameters({ readAheadKiB: '0', 'csi.storage.k8s.io/pvc/name': 'x' })).toEqual({
      readAheadKiB: '0',
    });
  });
});

describe('checkSnapshotParameters', () => {
  it('knows its keys', () => {
    const good = { readyAfter: '5s', dependent: 'true', trackBlocks: 'false', 'csi.storage.k8s.io/x': 'y' };
    expect(() => checkSnapshotParameters(good)).not.toThrow();
    for (const bad of [{ readyAfter: '5' }, { dependent: '1' }, { backend: 'loop' }])
      expect(() => checkSnapshotParameters(bad as Record<string, string>)).toThrow(refused);
  });
});

describe('readAttributes', () => {
  it('takes our keys from what a CO sends, and refuses bad values of them', () => {
    expect(readAttributes({ size: '1Gi', 'csi.storage.k8s.io/pod.name': 'p', colour: 'red' })).toEqual({
      size: '1Gi',
    });
    for (const bad of [{ size: '0' }, { size: '-1' }, { size: 'big' }, { backend: 'tape' }])
      expect(() => readAttributes(bad as Record<string, string>)).toThrow(refused);
  });
});

test.each([
  ['500ms', 500],
  ['5s', 5_000],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['0s', 0],
  ['5', undefined],
  ['-5s', undefined],
  ['1.5s', undefined],
  ['5 s', undefined],
  ['1d', undefined],
])('the duration %s is %p ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});
