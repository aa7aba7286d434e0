import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { parseScenarios } from '../../../../src/scenarios/language';
import { shipped } from './shipped';

it('reads all shipped scenarios from one text', () => {
  const text = shipped.map((scenario) => scenario.text).join('---\n');
  expect(parseScenarios(text, 'all.yaml').scenarios.map(({ name }) => name)).toEqual(
    shipped.map(({ name }) => name),
  );
});

/** The facts that the language was made from; they lie beside a checkout or nowhere. */
const facts = path.join(__dirname, '../../../../../shared/facts/faults.md');
const examples = existsSync(facts) ? examplesIn(readFileSync(facts, 'utf8')) : [];

function examplesIn(text: string): string[] {
  const [, section = ''] = /### 3\.4 [^\n]*\n([\s\S]*?)\n## /.exec(text) ?? [];
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
  return yaml.split(/^---$/m).map((document) => document.trim());
}

const header = 'apiVersion: fake-csi/v1\nkind: Scenario\n';
/** What another part of the product brings: it is refused by name, and nothing else is. */
const NOT_YET = /not available in this version/;

// Nothing is left out where there are none: the shipped scenarios above are what is promised.
if (examples.length > 0)
  describe('the worked examples of the facts', () => {
    it('are twelve', () => expect(examples).toHaveLength(12));

    it.each(examples.map((text) => [/name: ([\w-]+)/.exec(text)?.[1] ?? '', text]))(
      '%s is read, live faults aside',
      (_name, text) => {
        const problems = parseScenarios(header + text, 'example.yaml').problems.filter(
          ({ severity, message }) => severity === 'error' && !NOT_YET.test(message),
        );
        expect(problems).toEqual([]);
      },
    );
  });
