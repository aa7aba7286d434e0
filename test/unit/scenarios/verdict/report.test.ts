import fc from 'fast-check';
import type { ExpectationTest } from '../../../../src/scenarios/model';
import { evaluate } from '../../../../src/scenarios/verdict/evaluate';
import { escapeXml, junitXml } from '../../../../src/scenarios/verdict/junit';
import { verdictText } from '../../../../src/scenarios/verdict/text';
import type { Verdict } from '../../../../src/scenarios/verdict/verify';
import { count, EPOCH, expectation, patterns, Story, select } from './story';

const calls = select(['NodeStageVolume'], { code: patterns('INTERNAL') });
const stages = (source: string): ExpectationTest => ({
  kind: 'count',
  calls,
  count: count(source),
  withinMs: undefined,
  since: undefined,
});
const missing = { kind: 'unavailable', why: 'no kubeconfig' } as const;

const story = new Story();
story.call(1, 'NodeStageVolume', 'v1', {
  code: 'INTERNAL',
  message: 'a <bad> "disk"\u001b[31m\u0000',
  fired: ['s/r'],
});
const expectations = [
  expectation(stages('>=1'), { source: '{count: ">=1"}' }),
  expectation(stages('>=2'), { source: '{count: ">=2", "rpc": <x>}\n' }),
  expectation(missing, { optional: true }),
  expectation(missing),
];
const results = evaluate(expectations, story.entries, { nowMs: EPOCH, final: true });
const verdict: Verdict = { passed: false, results, durationMs: 1_500 };

const CHARACTERS: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const unescaped = (xml: string) => xml.replace(/&(\w+);/g, (_, name: string) => CHARACTERS[name] ?? '?');

describe('junitXml', () => {
  const xml = junitXml('slow & "attach"', verdict, '2026-01-01T00:00:00.000Z');

  it('has a case for each expectation, and text that can be read', () => {
    expect(xml.split('\n')).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites tests="4" failures="2" errors="0" skipped="1" time="1.500">',
      '  <testsuite name="slow &amp; &quot;attach&quot;" tests="4" failures="2" errors="0" skipped="1" time="1.500" timestamp="2026-01-01T00:00:00.000Z">',
      '    <testcase classname="slow &amp; &quot;attach&quot;" name="{count: &quot;&gt;=1&quot;}"/>',
      '    <testcase classname="slow &amp; &quot;attach&quot;" name="{count: &quot;&gt;=2&quot;, &quot;rpc&quot;: &lt;x&gt;}&#10;">',
      '      <failure type="failed" message="1 call, wanted &gt;=2">1 call, wanted &gt;=2',
      'expected at 3:5',
      'call 1 at 2026-01-01T00:00:01.000Z NodeStageVolume v1 INTERNAL 1ms [s/r]: a &lt;bad&gt; &quot;disk&quot;\\u001b[31m\\u0000</failure>',
      '    </testcase>',
      '    <testcase classname="slow &amp; &quot;attach&quot;" name="as written">',
      '      <skipped message="skipped: no kubeconfig"/>',
      '    </testcase>',
      '    <testcase classname="slow &amp; &quot;attach&quot;" name="as written">',
      '      <failure type="unavailable" message="no kubeconfig">no kubeconfig',
      'expected at 3:5</failure>',
      '    </testcase>',
      '  </testsuite>',
      '</testsuites>',
      '',
    ]);
  });

  it('writes only what XML 1.0 allows, and loses nothing that it does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = escapeXml(text);
        for (const character of escaped) {
          const code = character.codePointAt(0) ?? 0;
          const allowed =
            [0x9, 0xa, 0xd].includes(code) ||
            (code >= 0x20 && code <= 0xd7ff) ||
            (code >= 0xe000 && code <= 0xfffd) ||
            code >= 0x10000;
          expect(allowed && !'<>"'.includes(character)).toBe(true);
        }
        if (!/(?![\t\n\r])\p{Cc}|\p{Cs}|[\ufffe\uffff]/u.test(text)) expect(unescaped(escaped)).toBe(text);
      }),
    );
    expect(escapeXml('a\ud800b\udc00 😀 \uffff')).toBe('a\\ud800b\\udc00 😀 \\uffff');
  });
});

describe('verdictText', () => {
  it('is a line for each expectation, and says why', () => {
    expect(verdictText(verdict).split('\n')).toEqual([
      '✓ {count: ">=1"}: 1 call, wanted >=1',
      '✗ {count: ">=2", "rpc": <x>}\\u000a: 1 call, wanted >=2',
      '    call 1 at 2026-01-01T00:00:01.000Z NodeStageVolume v1 INTERNAL 1ms [s/r]: a <bad> "disk"\\u001b[31m\\u0000',
      '- as written: no kubeconfig (skipped) (optional)',
      '✗ as written: no kubeconfig (unavailable)',
      'failed: only 1 passed of 4 in 1.5s',
      '',
    ]);
  });
});
