import { mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const ZONE = 'topology.fake.csi.test/zone';
const RACK = 'topology.fake.csi.test/rack';
const zone = (name: string) => ({ segments: { [ZONE]: name } });
const off = { capabilities: '-VOLUME_ACCESSIBILITY_CONSTRAINTS' };

conformance(
  'CreateVolume with a topology',
  (bench) => {
    let last = 0;
    const create = (accessibility_requirements: object | null, fields: object = {}) =>
      bench.csi.CreateVolume({
        name: `topology-${++last}`,
        volume_capabilities: [mountCapability()],
        accessibility_requirements,
        ...fields,
      });
    const placeOf = async (requirement: object | null) =>
      (await create(requirement)).volume?.accessible_topology;

    test('C23 accessibility_requirements without VOLUME_ACCESSIBILITY_CONSTRAINTS: INVALID_ARGUMENT', async () => {
      const { csi } = await bench.start(off);
      const call = csi.CreateVolume({
        name: 'v',
        volume_capabilities: [mountCapability()],
        accessibility_requirements: { requisite: [zone('a')] },
      });
      expect(await outcome(call)).toBe('INVALID_ARGUMENT');
    });

    test.each([
      ['another zone', { requisite: [zone('nowhere')] }],
      ['another zone, preferred too', { requisite: [zone('nowhere')], preferred: [zone('nowhere')] }],
      ['another key', { requisite: [{ segments: { 'topology.other.test/zone': 'a' } }] }],
      ['a segment more than any node has', { requisite: [{ segments: { [ZONE]: 'a', [RACK]: '9' } }] }],
    ])('C24 requisite is %s: RESOURCE_EXHAUSTED', async (_what, requirement) => {
      expect(await outcome(create(requirement))).toBe('RESOURCE_EXHAUSTED');
    });

    test('C25 the one feasible of several requisite topologies is chosen and returned', async () => {
      const requisite = [zone('nowhere'), zone('b'), zone('elsewhere')];
      expect(await placeOf({ requisite })).toEqual([zone('b')]);
    });

    test('C26 preferred that is no subset of requisite: INVALID_ARGUMENT', async () => {
      const requirement = { requisite: [zone('a')], preferred: [zone('b')] };
      expect(await outcome(create(requirement))).toBe('INVALID_ARGUMENT');
    });

    test('C26 neither requisite nor preferred: INVALID_ARGUMENT', async () => {
      expect(await outcome(create({}))).toBe('INVALID_ARGUMENT');
    });

    test('C27 two requisite, preferred in the other order: the first feasible preferred one', async () => {
      const requisite = [zone('a'), zone('b')];
      expect(await placeOf({ requisite, preferred: [zone('b'), zone('a')] })).toEqual([zone('b')]);
      expect(await placeOf({ requisite, preferred: [zone('a'), zone('b')] })).toEqual([zone('a')]);
    });

    test('C27 a preferred one that is not feasible gives way to the next, then to requisite', async () => {
      const requisite = [zone('nowhere'), zone('b'), zone('a')];
      expect(await placeOf({ requisite, preferred: [zone('nowhere'), zone('a')] })).toEqual([zone('a')]);
      expect(await placeOf({ requisite, preferred: [zone('nowhere')] })).toEqual([zone('b')]);
    });

    test('without requisite an infeasible preference is no obstacle: any place will do', async () => {
      const [place] = (await placeOf({ preferred: [zone('nowhere')] })) ?? [];
      expect([zone('a'), zone('b')]).toContainEqual(place);
      expect(await placeOf({ preferred: [zone('nowhere'), zone('b')] })).toEqual([zone('b')]);
    });

    test('keys are compared without regard to case', async () => {
      const requisite = [{ segments: { [ZONE.replace('zone', 'ZONE')]: 'b' } }];
      expect(await outcome(create({ requisite }))).toBe('OK');
    });

    test.each([
      ['a key without a name', { 'topology.fake.csi.test/': 'a' }],
      ['a key name of 64', { [`topology.fake.csi.test/${'z'.repeat(64)}`]: 'a' }],
      ['a key prefix of 64', { [`${'z'.repeat(64)}/zone`]: 'a' }],
      ['a key prefix in capitals', { 'Topology.test/zone': 'a' }],
      ['a value of 64', { [ZONE]: 'z'.repeat(64) }],
      ['an empty value', { [ZONE]: '' }],
      ['a value that ends in a dash', { [ZONE]: 'a-' }],
      ['keys that differ in case only', { [ZONE]: 'a', [ZONE.replace('zone', 'Zone')]: 'a' }],
    ])('a segment with %s: INVALID_ARGUMENT', async (_what, segments) => {
      expect(await outcome(create({ requisite: [{ segments }] }))).toBe('INVALID_ARGUMENT');
    });

    test('63 characters of key name, prefix and value are taken', async () => {
      const segments = { [`${'p'.repeat(63)}/${'n'.repeat(63)}`]: 'v'.repeat(63) };
      expect(await outcome(create({ requisite: [{ segments }] }))).toBe('RESOURCE_EXHAUSTED');
    });

    test('C20 the same name in another topology: ALREADY_EXISTS; in one that the volume is in: the same', async () => {
      const name = 'C20';
      const made = await create({ requisite: [zone('a')] }, { name });
      expect(await outcome(create({ requisite: [zone('b')] }, { name }))).toBe('ALREADY_EXISTS');
      for (const requirement of [{ requisite: [zone('b'), zone('a')] }, { preferred: [zone('b')] }, null])
        expect((await create(requirement, { name })).volume).toEqual(made.volume);
    });

    test('C20 a place within the topology of the volume is in it, one around it is not', async () => {
      const inRack = { segments: { [ZONE]: 'b', [RACK]: '1' } };
      await create({ requisite: [zone('b')] }, { name: 'C20 zone' });
      expect(await outcome(create({ requisite: [inRack] }, { name: 'C20 zone' }))).toBe('OK');
      await create({ requisite: [inRack] }, { name: 'C20 rack' });
      expect(await outcome(create({ requisite: [zone('b')] }, { name: 'C20 rack' }))).toBe('ALREADY_EXISTS');
    });

    test('C28 without VOLUME_ACCESSIBILITY_CONSTRAINTS: no accessible_topology anywhere', async () => {
      const { csi } = await bench.start(off);
      const { volume } = await csi.CreateVolume({ name: 'v', volume_capabilities: [mountCapability()] });
      expect(volume?.accessible_topology).toEqual([]);
      const { entries } = await csi.ListVolumes();
      expect(entries.map((entry) => entry.volume?.accessible_topology)).toEqual([[]]);
      const got = await csi.ControllerGetVolume({ volume_id: volume?.volume_id ?? '' });
      expect(got.volume?.accessible_topology).toEqual([]);
    });

    test('a volume in one topology cannot be attached to a node in another: FAILED_PRECONDITION', async () => {
      const { volume } = await create({ requisite: [zone('b')] });
      const attach = bench.csi.ControllerPublishVolume({
        volume_id: volume?.volume_id ?? '',
        node_id: 'node-1',
        volume_capability: mountCapability(),
      });
      expect(await outcome(attach)).toBe('FAILED_PRECONDITION');
    });
  },
  { topology: { [ZONE]: 'a' }, extraTopologies: [{ [ZONE]: 'b', [RACK]: '1' }] },
);

conformance('CreateVolume with the topologies of two nodes', (bench) => {
  test('C27 the zone of a second node is one to choose', async () => {
    const controller = await bench.start({ topology: { [ZONE]: 'a' } });
    const requisite = [zone('c')];
    const create = () =>
      controller.csi.CreateVolume({
        name: 'v',
        volume_capabilities: [mountCapability()],
        accessibility_requirements: { requisite },
      });
    expect(await outcome(create())).toBe('RESOURCE_EXHAUSTED');
    await bench.start({
      profile: 'node',
      nodeId: 'node-2',
      dataDir: controller.dataDir,
      topology: { [ZONE]: 'c' },
    });
    expect((await create()).volume?.accessible_topology).toEqual([zone('c')]);
  });
});
