import { createHash } from 'node:crypto';
import {
  inlineVolumeHandle,
  KubeletPaths,
  uniqueInlineName,
  uniqueVolumeName,
  volumeAttachmentName,
} from '../../../src/kubelet/names';
import { encodeVolData } from '../../../src/kubelet/vol-data';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('names', () => {
  test('a volume is named by driver and handle, whatever its PersistentVolume is called', () => {
    expect(uniqueVolumeName('fake.csi.test', 'vol-1')).toBe('kubernetes.io/csi/fake.csi.test^vol-1');
    expect(uniqueInlineName('uid-1', 'scratch')).toBe('kubernetes.io/csi/uid-1-scratch');
  });

  test('inline volume ids and VolumeAttachments are csi- and a sha256 of what they are about', () => {
    expect(inlineVolumeHandle('uid-1', 'scratch')).toBe(`csi-${sha256('uid-1scratch')}`);
    expect(volumeAttachmentName('vol-1', 'fake.csi.test', 'node-1')).toBe(
      `csi-${sha256('vol-1fake.csi.testnode-1')}`,
    );
  });
});

describe('paths', () => {
  const paths = new KubeletPaths('/var/lib/kubelet');

  test('a volume is staged below the plugin, by driver and the sha256 of its handle', () => {
    expect(paths.staging('fake.csi.test', 'vol-1')).toBe(
      `/var/lib/kubelet/plugins/kubernetes.io/csi/fake.csi.test/${sha256('vol-1')}/globalmount`,
    );
  });

  test('a volume is published below the pod, by the name of its PersistentVolume', () => {
    expect(paths.target('uid-1', 'pvc-1')).toBe(
      '/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/pvc-1/mount',
    );
    expect(paths.podVolume('uid-1', 'a/b')).toBe('/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/a~b');
  });
});

describe('vol_data.json', () => {
  test('is one line: keys sorted, a newline at the end', () => {
    expect(
      encodeVolData({
        volumeHandle: 'vol-1',
        specVolID: 'pvc-1',
        driverName: 'fake.csi.test',
        nodeName: 'node-1',
        attachmentID: 'csi-1',
        volumeLifecycleMode: 'Persistent',
      }),
    ).toBe(
      '{"attachmentID":"csi-1","driverName":"fake.csi.test","nodeName":"node-1","specVolID":"pvc-1","volumeHandle":"vol-1","volumeLifecycleMode":"Persistent"}\n',
    );
  });

  test('escapes what the encoder of Go escapes', () => {
    expect(encodeVolData({ driverName: 'd', volumeHandle: 'a<b>&c' })).toBe(
      '{"driverName":"d","volumeHandle":"a\\u003cb\\u003e\\u0026c"}\n',
    );
  });
});
