import { parseMountinfo } from '../../../src/host/linux/mountinfo';
import { mountsReachKubelet } from '../../../src/server/registration/propagation';

const DIR = '/var/lib/kubelet';
const STAGES = `${DIR}/plugins/kubernetes.io/csi`;

/** Mounts of a container or a machine: where, and the optional fields of mountinfo. */
function reach(mounts: Record<string, string>): true | string {
  const lines = Object.entries(mounts).map(([where, propagation], index) => {
    const fields = propagation === '' ? '' : `${propagation} `;
    return `${index + 2} 1 8:${index} / ${where} rw,relatime ${fields}- ext4 /dev/sda${index} rw`;
  });
  return mountsReachKubelet(DIR, parseMountinfo(lines.join('\n')));
}

describe('BL-114: the folder of stages alone', () => {
  const pods = { '/': '', [`${DIR}/pods`]: 'shared:7' };

  it('is not mounted from the host', () => {
    expect(reach(pods)).toContain(
      `mounts made in ${STAGES} are not seen by the kubelet: the mount at / is private`,
    );
  });

  it.each([
    ['without propagation', ''],
    ['and only receives', 'master:1'],
  ])('is mounted %s', (_, propagation) => {
    for (const folder of [STAGES, `${DIR}/plugins`, `${DIR}/plugins/kubernetes.io`]) {
      const said = reach({ ...pods, [folder]: propagation });
      expect(said).toContain(`mounts made in ${STAGES} are not seen`);
      expect(said).toContain(`the mount at ${folder} `);
    }
  });

  it('is not the folder of this driver below plugins', () => {
    const said = reach({ ...pods, [`${DIR}/plugins/fake.csi.test`]: 'shared:8' });
    expect(said).toContain(`mounts made in ${STAGES} are not seen`);
  });

  it('is as it should be', () => {
    expect(reach({ ...pods, [`${DIR}/plugins`]: 'shared:8' })).toBe(true);
  });
});

it.each(['/', '/var', '/var/lib', DIR])('BL-115: a private mount, whichever it is: %s', (where) => {
  const said = reach({ '/': 'shared:1', [where]: '' });
  expect(said).toContain(`the mount at ${where} is private; pods would find empty folders`);
  expect(said).toContain(`mount --make-rshared ${where}`);
  expect(reach({ '/': '', [where]: 'shared:2' })).toBe(true);
});
