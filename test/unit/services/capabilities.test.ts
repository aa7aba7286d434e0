import { advertised, CAPABILITIES, parseCapabilities, servicesOf } from '../../../src/services/capabilities';

const off = (kind: keyof typeof CAPABILITIES, list: string) =>
  Object.keys(CAPABILITIES[kind]).filter((name) => !parseCapabilities(list)[kind].has(name));

describe('parseCapabilities', () => {
  it('has everything on but OFFLINE', () => {
    for (const list of ['', 'all', ' ', 'none,all'])
      expect([off('plugin', list), off('controller', list), off('node', list), off('group', list)]).toEqual([
        ['OFFLINE'],
        [],
        [],
        [],
      ]);
  });

  it('goes from left to right', () => {
    expect(parseCapabilities('none,GET_CAPACITY,-GET_CAPACITY,+LIST_VOLUMES').controller).toEqual(
      new Set(['LIST_VOLUMES']),
    );
    expect(off('node', '-GET_VOLUME_STATS,all')).toEqual([]);
  });

  it('means every service that has the name, unless a kind stands before it', () => {
    const both = '-EXPAND_VOLUME,-ONLINE';
    expect([off('controller', both), off('node', both)]).toEqual([['EXPAND_VOLUME'], ['EXPAND_VOLUME']]);
    expect([off('controller', '-node.EXPAND_VOLUME'), off('node', '-node.EXPAND_VOLUME')]).toEqual([
      [],
      ['EXPAND_VOLUME'],
    ]);
  });

  it('does not mind case and blanks', () => {
    expect(off('node', ' - , -Node.get_volume_stats '.replace('- ,', ''))).toEqual(['GET_VOLUME_STATS']);
    expect(off('controller', '!clone_volume')).toEqual(['CLONE_VOLUME']);
  });

  it.each([
    ['-NOPE', /unknown capability "NOPE"; known are plugin\./],
    ['cloud.EXPAND_VOLUME', /unknown capability/],
    ['node.CLONE_VOLUME', /unknown capability/],
    ['UNKNOWN', /unknown capability "UNKNOWN"/],
    ['constructor', /unknown capability/],
    [
      '-PUBLISH_UNPUBLISH_VOLUME',
      /controller\.LIST_VOLUMES_PUBLISHED_NODES needs controller\.PUBLISH_UNPUBLISH_VOLUME/,
    ],
    ['-EXPAND_VOLUME', /plugin\.ONLINE needs controller\.EXPAND_VOLUME or node\.EXPAND_VOLUME/],
    ['OFFLINE,-controller.EXPAND_VOLUME', /plugin\.OFFLINE needs controller\.EXPAND_VOLUME/],
  ])('refuses %s in one line', (list, says) => {
    expect(() => parseCapabilities(list)).toThrow(says);
    expect(() => parseCapabilities(list)).not.toThrow(/\n/);
  });
});

test('a node alone claims no service that it does not have; one of a larger plugin speaks for that', () => {
  const set = parseCapabilities('all');
  expect([...advertised(set, 'node').plugin]).toEqual(['VOLUME_ACCESSIBILITY_CONSTRAINTS', 'ONLINE']);
  expect(advertised(set, 'all')).toBe(set);
  expect(advertised(set, 'controller')).toBe(set);
});

test('the services of each profile', () => {
  expect([...servicesOf('node')]).toEqual(['Identity', 'Node']);
  expect([...servicesOf('controller')]).toEqual([
    'Identity',
    'Controller',
    'GroupController',
    'SnapshotMetadata',
  ]);
  expect(servicesOf('all').size).toBe(5);
});
