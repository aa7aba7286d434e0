import { formatProblem, parseScenarios } from '../../../../src/scenarios/language';
import { twelve } from './twelve';

describe('a scenario for each way in which a volume gets stuck', () => {
  it.each(twelve.map(({ name, text }) => [name, text]))('%s is read without a problem', (name, text) => {
    const { scenarios, problems } = parseScenarios(text, `${name}.yaml`);
    expect(problems.map(formatProblem)).toEqual([]);
    expect(scenarios.map((scenario) => scenario.name)).toEqual([name]);
  });

  it('reads all of them from one file', () => {
    const text = twelve.map((scenario) => scenario.text).join('---\n');
    expect(parseScenarios(text, 'all.yaml').scenarios.map(({ name }) => name)).toEqual(
      twelve.map(({ name }) => name),
    );
  });
});
