import * as fs from 'node:fs/promises';
import { keyOf } from '../../src/util/keys';
import { createVolume, use } from '../support/lifecycle';
import { conformance, outcome } from './harness';

conformance('ControllerGetVolume', (bench) => {
  test('G01 an empty id: INVALID_ARGUMENT; an unknown one: NOT_FOUND', async () => {
    expect(await outcome(bench.csi.ControllerGetVolume({ volume_id: '' }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(bench.csi.ControllerGetVolume({ volume_id: 'unknown' }))).toBe('NOT_FOUND');
  });

  test('G02 a known id: volume and status, with nodes and condition', async () => {
    const used = await use(bench.driver);
    const { volume, status } = await bench.csi.ControllerGetVolume({ volume_id: used.id });
    expect(volume).toMatchObject({ volume_id: used.id, capacity_bytes: expect.stringMatching(/^[1-9]/) });
    expect(status?.published_node_ids).toEqual(['node-1']);
    expect(status?.volume_condition).toEqual({
      abnormal: false,
      message: expect.stringMatching(/\S+ \S+/),
    });
  });

  test('G02 without the two capabilities: volume and an empty status', async () => {
    const driver = await bench.start({
      capabilities: '-LIST_VOLUMES_PUBLISHED_NODES,-controller.VOLUME_CONDITION',
    });
    const volume_id = await createVolume(driver);
    const { volume, status } = await driver.csi.ControllerGetVolume({ volume_id });
    expect(volume?.volume_id).toBe(volume_id);
    expect(status).toMatchObject({ published_node_ids: [] });
    expect(status?.volume_condition ?? null).toBeNull();
  });

  test('G03 the bytes of a volume are gone: abnormal, here and in ListVolumes', async () => {
    const driver = await bench.start();
    const volume_id = await createVolume(driver);
    await fs.rm(`${driver.dataDir}/volumes/${keyOf(volume_id)}/disk.img`);
    const { status } = await driver.csi.ControllerGetVolume({ volume_id });
    expect(status?.volume_condition).toEqual({ abnormal: true, message: expect.stringMatching(/\S+ \S+/) });
    expect((await driver.csi.ListVolumes()).entries[0]?.status).toEqual(status);
  });

  test('G03 a deleted volume: NOT_FOUND', async () => {
    const volume_id = await createVolume(bench.driver);
    await bench.csi.DeleteVolume({ volume_id });
    expect(await outcome(bench.csi.ControllerGetVolume({ volume_id }))).toBe('NOT_FOUND');
  });
});
