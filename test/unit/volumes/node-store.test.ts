import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { Layout } from '../../../src/volumes/layout';
import { NodeStore } from '../../../src/volumes/node-store';
import type { PublicationRecord, StageRecord } from '../../../src/volumes/records';
import { silentLog } from '../../support/driver';

const root = fs.mkdtempSync(path.join(tmpdir(), 'node-store-'));
afterAll(() => fs.rmSync(root, { recursive: true }));
const { node } = { node: new Layout(root).node('n') };
beforeEach(() => fs.rmSync(node.folder, { recursive: true, force: true }));

async function open(bootId = 'this boot'): Promise<NodeStore> {
  const store = new NodeStore({ paths: node, bootId, log: silentLog });
  await store.load();
  return store;
}

const stage = (volumeId: string, bootId = 'this boot') =>
  ({ version: 1, volumeId, bootId, stagingPath: `/s/${volumeId}`, capability: {} }) as unknown as StageRecord;
const publication = (volumeId: string, targetPath: string) =>
  ({ version: 1, volumeId, bootId: 'this boot', targetPath, capability: {} }) as unknown as PublicationRecord;

describe('NodeStore', () => {
  it('knows after a restart what it knew before', async () => {
    const first = await open();
    await first.putStage(stage('a'));
    await first.putPublication(publication('a', '/t/1'));
    await first.putPublication(publication('a', '/t/2'));
    const again = await open();
    expect(again.stage('a')).toEqual(stage('a'));
    expect(
      again
        .publicationsOf('a')
        .map(({ targetPath }) => targetPath)
        .sort(),
    ).toEqual(['/t/1', '/t/2']);
    again.removePublication('/t/1');
    expect(again.publicationsOf('a').map(({ targetPath }) => targetPath)).toEqual(['/t/2']);
    again.removePublication('/t/2');
    again.removeStage('a');
    const last = await open();
    expect([[...last.stages()], [...last.publications()]]).toEqual([[], []]);
  });

  it('forgets what belongs to an earlier boot: its mounts are gone', async () => {
    await (await open('earlier')).putStage(stage('a', 'earlier'));
    expect((await open()).stage('a')).toBeUndefined();
    expect(fs.readdirSync(node.stages)).toEqual([]);
  });

  it('sets a broken record aside, and keeps the others', async () => {
    await (await open()).putStage(stage('a'));
    fs.writeFileSync(path.join(node.stages, 'broken.json'), '{"version"');
    const store = await open();
    expect([...store.stages()].map(({ volumeId }) => volumeId)).toEqual(['a']);
    expect(fs.readdirSync(node.stages)).toContain('broken.json.broken');
  });

  it('writes though somebody took its folders away', async () => {
    const store = await open();
    fs.rmSync(node.folder, { recursive: true });
    await store.putStage(stage('a'));
    await store.putPublication(publication('a', '/t'));
    expect((await open()).publication('/t')?.volumeId).toBe('a');
  });

  it('has no trouble with what is not there', async () => {
    const store = await open();
    store.removePublication('/none');
    store.removeStage('none');
    expect([store.stage('none'), store.publicationsOf('none')]).toEqual([undefined, []]);
  });
});
