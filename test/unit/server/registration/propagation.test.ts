import { parseMountinfo } from '../../../../src/host/linux/mountinfo';
import { mountsReachKubelet } from '../../../../src/server/registration/propagation';

const line = (id: number, where: string, propagation: string) =>
  `${id} 1 8:${id} / ${where} rw,relatime ${propagation === '' ? '' : `${propagation} `}- ext4 /dev/sda${id} rw`;

const reach = (...lines: [where: string, propagation: string][]) =>
  mountsReachKubelet(
    '/var/lib/kubelet',
    parseMountinfo(
      lines.map(([where, propagation], index) => line(index + 2, where, propagation)).join('\n'),
    ),
  );

describe('whether mounts made here come to the kubelet', () => {
  it.each([
    ['one shared root', [['/', 'shared:1']]],
    [
      'a container that has it Bidirectional',
      [
        ['/', ''],
        ['/var/lib/kubelet', 'shared:7 master:1'],
      ],
    ],
    [
      'each of its folders for itself',
      [
        ['/', ''],
        ['/var/lib/kubelet/pods', 'shared:7'],
        ['/var/lib/kubelet/plugins', 'shared:8'],
      ],
    ],
    [
      'a private mount that only looks alike',
      [
        ['/', 'shared:1'],
        ['/var/lib/kubelet2', ''],
      ],
    ],
    [
      'a shared one on top of a private one',
      [
        ['/', ''],
        ['/var/lib/kubelet', ''],
        ['/var/lib/kubelet', 'shared:3'],
      ],
    ],
  ] as [string, [string, string][]][])('they do: %s', (_, lines) => {
    expect(reach(...lines)).toBe(true);
  });

  it.each([
    ['a private root', [['/', '']], 'the mount at / is private', 'mount --make-rshared /'],
    [
      'a container without propagation',
      [
        ['/', 'shared:1'],
        ['/var/lib/kubelet', ''],
      ],
      'the mount at /var/lib/kubelet is private',
      'mountPropagation: Bidirectional',
    ],
    [
      'a container that only receives',
      [
        ['/', 'shared:1'],
        ['/var/lib/kubelet', 'master:1'],
      ],
      'only receives mounts (HostToContainer)',
      'mountPropagation: Bidirectional',
    ],
    [
      'pods alone without propagation',
      [
        ['/', 'shared:1'],
        ['/var/lib/kubelet/pods', ''],
      ],
      'mounts made in /var/lib/kubelet/pods are not seen',
      'mount --make-rshared /var/lib/kubelet/pods',
    ],
  ] as [string, [string, string][], string, string][])('they do not: %s', (_, lines, wrong, mend) => {
    expect(reach(...lines)).toContain(wrong);
    expect(reach(...lines)).toContain(mend);
  });
});
