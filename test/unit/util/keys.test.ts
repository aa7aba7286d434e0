import { idFor, keyOf } from '../../../src/util/keys';

test('an id follows from its names alone, and tells them apart', () => {
  expect(idFor('vol', 'pvc-1')).toBe(idFor('vol', 'pvc-1'));
  const ids = [
    idFor('vol', 'a'),
    idFor('vol', 'b'),
    idFor('vol', 'a', ''),
    idFor('vol', '', 'a'),
    idFor('vol', 'ab'),
    idFor('vol', 'a', 'b'),
    idFor('snap', 'a'),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  // Two names cannot pass for two others by where one ends.
  expect(idFor('snap', 'a1:b', 'c')).not.toBe(idFor('snap', 'a', 'b1:c'));
});

test.each(['x', '🚀'.repeat(32), 'a\tb\nc'])('the id of %j fits a string field and is plain', (name) => {
  expect(idFor('vol', name)).toMatch(/^vol-[0-9a-f]{24}$/);
  expect(keyOf(name)).toMatch(/^[0-9a-f]{32}$/);
});
