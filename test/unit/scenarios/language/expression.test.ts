// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the language has templates of its own.
import fc from 'fast-check';
import { redactRequest } from '../../../../src/csi/redact';
import type { Method, RequestOf } from '../../../../src/csi/rpcs';
import {
  buildExpression,
  buildTemplate,
  parseExpression,
  parseTemplate,
} from '../../../../src/scenarios/language/expression';
import { failed } from '../../../../src/scenarios/language/parsed';
import type { Scope } from '../../../../src/scenarios/model';

const scope: Scope = {
  request: {
    volume_id: 'vol-1',
    capacity_range: { required_bytes: '9007199254740993' },
    volume_capability: { mount: { fs_type: 'xfs', mount_flags: ['***', '***'] } },
    volume_context: { 'a.b': 'c', size: '10' },
  },
  volume: {
    id: 'vol-1',
    capacity: '1073741824',
    parameters: { disk: 'fault' },
    accessModes: ['SINGLE_NODE_WRITER'],
  },
  node: { id: 'worker', fsFreePct: 4.5 },
  pod: null,
};

function evaluate(
  source: string,
  methods: readonly Method[] = ['NodeStageVolume', 'ControllerExpandVolume'],
  given = scope,
): unknown {
  const parsed = parseExpression(source);
  if (failed(parsed)) throw new Error(parsed.message);
  const { expression, failures } = buildExpression({ source, node: parsed.value }, methods);
  if (failures.length > 0) throw new Error(failures[0]?.message);
  return expression.evaluate(given);
}

describe('an expression', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['7 % 4 - 1', 2],
    ['1 - 2 - 3', -4],
    ['-(3)', -3],
    ['7 / 2', 3.5],
    ['1 / 0', null],
    ['9007199254740993 + 1 == 9007199254740994', true],
    ['"a" + "b"', 'ab'],
    ['"a" + 1', null],
    ['[1, 2] + [3]', [1, 2, 3]],
    ['true ? 1 : 2', 1],
    ['null ? 1 : false ? 2 : 3', 3],
    ['1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3', true],
    ['true || false && false', true],
    ['!true', false],
    ['!null', true],
    ['null && true', false],
    ['null == null', true],
    ['null < 1', false],
    ['null >= 0', false],
    ['"b" > "a"', true],
    ['"a" == \'a\'', true],
    ['"a\\"b"', 'a"b'],
    ['[1, "a"] == [1, "a"]', true],
    ['request.capacity_range.required_bytes == 9007199254740993', true],
    ['request.capacity_range.required_bytes > 9007199254740992', true],
    ['volume.capacity >= "1Gi"', true],
    ['volume.capacity < "1Gi"', false],
    ['volume.capacity == "1Gi"', true],
    ['volume.capacity / 2 == "512Mi"', true],
    ['node.fsFreePct < 5', true],
    ['request.volume_context["a.b"]', 'c'],
    ['request.volume_context.nothing', null],
    ['volume.parameters.disk == "fault"', true],
    ['pod.name', null],
    ['pod.name == "a"', false],
    ['volume.parameters.constructor', null],
    ['volume.parameters["__proto__"]', null],
    ['volume.accessModes[0]', 'SINGLE_NODE_WRITER'],
    ['volume.accessModes["length"]', null],
    ['"SINGLE_NODE_WRITER" in volume.accessModes', true],
    ['"disk" in volume.parameters', true],
    ['"x" in volume.parameters', false],
    ['size(null)', 0],
    ['size("añ")', 2],
    ['size(request.volume_capability.mount.mount_flags)', 2],
    ['request.volume_capability.mount.mount_flags.size() > 0', true],
    ['contains("abc", "b")', true],
    ['"abc".startsWith("ab") && "abc".endsWith("bc")', true],
    ['request.volume_id.matches("^vol-[0-9]+$")', true],
    ['lower("ABC")', 'abc'],
    ['lower(1)', null],
    ['has(request.volume_context.size)', true],
    ['has(request.volume_context.other)', false],
    ['has(pod.name)', false],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  it('knows what a request leaves out because it is at its default', () => {
    const request = redactRequest('NodePublishVolume', { readonly: false } as RequestOf<'NodePublishVolume'>);
    const of = (source: string, methods: Method[] = ['NodePublishVolume']) =>
      evaluate(source, methods, { request });
    expect(of('request.readonly == false')).toBe(true);
    expect(of('has(request.readonly)')).toBe(false);
    expect(of('request.target_path == ""')).toBe(true);
    expect(of('request.volume_capability')).toBe(null);
    // A method without the field has no default of it.
    expect(of('request.readonly == false', ['NodePublishVolume', 'NodeStageVolume'])).toBe(false);
  });

  it.each([
    ['', undefined, 'expected an expression, found nothing'],
    ['1 +', 3, 'expected a value, found the end'],
    ['1 2', 2, 'expected an operator or the end, found "2"'],
    ['a = 1', 2, 'unexpected "=" (did you mean "=="?)'],
    ['true & false', 5, 'unexpected "&" (did you mean && or ||?)'],
    ['"abc', 0, 'a string that is not closed'],
    ['1 == $', 5, 'unexpected "$"'],
    [
      'volum.id',
      0,
      'unknown name "volum" (did you mean "volume"?): expected request, volume, pod, node, call, rule or scenario',
    ],
    ['siz(1)', 0, 'unknown function "siz" (did you mean "size"?)'],
    ['volume.id.startWith("a")', 10, 'unknown function "startWith" (did you mean "startsWith"?)'],
    ['size(1, 2)', 0, 'size() takes one value, found 2'],
    ['has(1)', 0, 'has() takes a path such as request.volume_context["k"]'],
    ['"a".matches("(")', 13, 'expected a regular expression in RE2 syntax: missing closing ): `(`'],
    ['"a".matches(volume.id)', 19, 'matches() takes its regular expression as a text in quotes'],
    ['(1', 2, 'expected ")", found the end'],
    ['volume.', 7, 'expected a name after "."'],
    [`${'('.repeat(60)}1${')'.repeat(60)}`, 50, 'nested deeper than 50 levels'],
    ['!'.repeat(1000), 49, 'nested deeper than 50 levels'],
    ['1+'.repeat(1001), undefined, 'expected an expression of at most 2000 characters, found 2002'],
  ])('%s is refused', (source, offset, message) => {
    expect(parseExpression(source)).toEqual({ message, offset });
  });

  it.each([
    [
      'request.volume_capabilty.mount',
      8,
      'unknown field "volume_capabilty" of NodeStageVolumeRequest (did you mean "volume_capability"?)',
    ],
    ['request.volume_id.x', 18, 'unknown field "x" of NodeStageVolumeRequest'],
    ['size(request.secrets)', 13, 'secrets cannot be read by a scenario'],
    ['request["secrets"]["a"]', 8, 'secrets cannot be read by a scenario'],
    [
      'request.volume_capability.mount.mount_flags',
      32,
      'mount_flags may hold passwords: a scenario can only count them, with size()',
    ],
    [
      '"ro" in request.volume_capability.mount.mount_flags',
      40,
      'mount_flags may hold passwords: a scenario can only count them, with size()',
    ],
    [
      'volume.nam == "a"',
      7,
      'unknown name "nam" of volume (did you mean "name"?): expected id, name, pvc, storageClass, parameters, attributes, fsType, accessModes, block, state or capacity',
    ],
    ['volume.pvc.labels', 11, 'unknown name "labels" of volume.pvc: expected namespace or name'],
    [
      'true ? volume.parameters[request.volume_i] : 1',
      33,
      'unknown field "volume_i" of NodeStageVolumeRequest (did you mean "volume_id"?)',
    ],
  ])('%s names what a request does not have or may not tell', (source, offset, message) => {
    const parsed = parseExpression(source);
    if (failed(parsed)) throw new Error(parsed.message);
    expect(buildExpression({ source, node: parsed.value }, ['NodeStageVolume']).failures).toEqual([
      { message, offset },
    ]);
  });

  it('takes a field that one of the methods has', () => {
    expect(evaluate('request.readonly == true', ['NodeStageVolume', 'NodePublishVolume'])).toBe(false);
  });

  it('never throws, whatever is written', () => {
    const piece = fc.constantFrom(
      ...[
        'request',
        'volume',
        '.id',
        '["a"]',
        '[0]',
        '(',
        ')',
        ' + ',
        ' == ',
        ' < ',
        ' && ',
        ' in ',
        '!',
        '-',
        '1',
        '"a"',
        'null',
      ],
      ...[
        'size(',
        '.size()',
        'has(',
        ', ',
        '? ',
        ' : ',
        '[',
        ']',
        '.matches("a")',
        '9007199254740993',
        '% ',
        '/ ',
        'true',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const source = pieces.join('');
        const parsed = parseExpression(source);
        if (failed(parsed)) return;
        buildExpression({ source, node: parsed.value }, ['NodeStageVolume']).expression.evaluate(scope);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a template', () => {
  const render = (source: string): string => {
    const parsed = parseTemplate(source);
    if (failed(parsed)) throw new Error(parsed.message);
    return buildTemplate(parsed.value, ['NodeStageVolume']).template.render(scope);
  };

  it.each([
    ['backend busy', 'backend busy'],
    ['backend ${volume.id} busy', 'backend vol-1 busy'],
    ['${request.volume_context["a.b"]}${1 + 1}', 'c2'],
    ['${"}"}', '}'],
    ['cost: $${x} $5 {a}', 'cost: ${x} $5 {a}'],
    ['${pod.name}', ''],
    ['${volume.parameters}', '{"disk":"fault"}'],
  ])('%s', (source, text) => {
    expect(render(source)).toBe(text);
  });

  it.each(['x', 'é', '%', '😀', '\n'])(
    'is cut to what a header takes, and not in the middle of %j',
    (character) => {
      const whole = render(character.repeat(2000 / character.length));
      expect(whole).toBe(character.repeat(whole.length / character.length));
      const inHeader = [...whole].reduce(
        (sum, one) => sum + (/[ -$&-~]/.test(one) ? 1 : 3 * Buffer.byteLength(one)),
        0,
      );
      expect(inHeader).toBeLessThanOrEqual(6000);
      expect(inHeader).toBeGreaterThan(1900);
    },
  );

  it.each([
    ['a ${volume.id', 2, 'expected "}" after "${" (write "$${" for the characters themselves)'],
    ['a ${ }', 2, '"${}" names nothing: expected an expression such as ${volume.id}'],
    [
      'a ${volum.id}',
      4,
      'unknown name "volum" (did you mean "volume"?): expected request, volume, pod, node, call, rule or scenario',
    ],
  ])('%s is refused', (source, offset, message) => {
    expect(parseTemplate(source)).toEqual({ message, offset });
  });
});
