import { Code } from '../../../src/csi/status';
import { AttachmentIndex } from '../../../src/volumes/attachment-index';
import type { VolumeRecord } from '../../../src/volumes/records';

const volume = (id: string, ...nodes: string[]) =>
  ({ id, attachments: Object.fromEntries(nodes.map((node) => [node, {}])) }) as unknown as VolumeRecord;
const full = expect.objectContaining({ code: Code.RESOURCE_EXHAUSTED });

describe('AttachmentIndex', () => {
  it('counts the volumes of a node, as records come, change and go', () => {
    const index = new AttachmentIndex();
    index.adjust(undefined, volume('a', 'n1', 'n2'));
    index.adjust(undefined, volume('b', 'n1'));
    expect(() => index.reserve('n1', 2)).toThrow(full);
    expect(() => index.reserve('n2', 2)()).not.toThrow();
    index.adjust(volume('a', 'n1', 'n2'), volume('a', 'n2'));
    expect(() => index.reserve('n1', 2)()).not.toThrow();
    index.adjust(volume('b', 'n1'), undefined);
    index.adjust(undefined, volume('c', 'n1'));
    index.adjust(volume('c', 'n1'), volume('c', 'n1'));
    expect(() => index.reserve('n1', 2)()).not.toThrow();
  });

  it('gives the last place to one of two calls at once, and again when that has ended', () => {
    const index = new AttachmentIndex();
    index.adjust(undefined, volume('a', 'n1'));
    const release = index.reserve('n1', 2);
    expect(() => index.reserve('n1', 2)).toThrow(full);
    release();
    expect(() => index.reserve('n1', 2)).not.toThrow();
  });

  it('gives a place back once, whoever says so again', () => {
    const index = new AttachmentIndex();
    const release = index.reserve('n1', 2);
    index.reserve('n1', 2);
    release();
    release();
    index.reserve('n1', 2);
    expect(() => index.reserve('n1', 2)).toThrow(full);
  });

  it('takes 0 for no limit', () => {
    const index = new AttachmentIndex();
    for (let i = 0; i < 300; i++) index.adjust(undefined, volume(`v${i}`, 'n1'));
    expect(() => index.reserve('n1', 0)).not.toThrow();
  });
});
