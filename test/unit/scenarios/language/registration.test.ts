import { actsByTime } from '../../../../src/scenarios/engine/timed-rules';
import { formatProblem, parseScenarios } from '../../../../src/scenarios/language';

const HEADER = 'apiVersion: fake-csi/v1\nkind: Scenario\nmetadata: {name: s}\nspec:\n';

function parse(rule: string) {
  const { scenarios, problems } = parseScenarios(`${HEADER}  rules: [${rule}]\n`, 's.yaml');
  return { rule: scenarios[0]?.rules[0], problems: problems.map(formatProblem) };
}

const registration = (rest: string) => parse(`{match: {service: registration}, ${rest}}`);

describe('the registration in a scenario', () => {
  it.each([
    ['{unregister: true}', { kind: 'unregister', forMs: undefined }],
    ['{unregister: true, for: 15s}', { kind: 'unregister', forMs: 15_000 }],
    ['{dead: true, for: 1m}', { kind: 'dead', forMs: 60_000 }],
    ['{silent: true}', { kind: 'silent', forMs: undefined }],
    ['{second: true}', { kind: 'second', forMs: undefined }],
  ])('a step %s', (step, act) => {
    const { rule, problems } = registration(`then: [{registration: ${step}}]`);
    expect(problems).toEqual([]);
    expect(rule?.stages[0]?.steps).toEqual([{ place: 'before', action: { kind: 'registration', act } }]);
    expect([...(rule?.match.methods ?? [])]).toEqual(['GetInfo', 'NotifyRegistrationStatus']);
  });

  it.each([
    ['{}', 'expected exactly one of unregister, second, dead and silent'],
    ['{unregister: true, dead: true}', 'expected exactly one of unregister, second, dead and silent'],
    ['{unregister: false}', 'expected true, found false'],
    ['{unregister: true, for: 0s}', 'expected more than 0s'],
    ['{unregistered: true}', 'unknown key "unregistered" (did you mean "unregister"?)'],
    ['gone', 'expected a map such as {unregister: true, for: 15s}, found "gone"'],
  ])('a step %s is refused', (step, message) => {
    expect(registration(`then: [{registration: ${step}}]`).problems.join()).toContain(message);
  });

  it('its answers are held against their own messages', () => {
    expect(registration('then: [{respond: {merge: {typ: x}}}]').problems.join()).toContain(
      'unknown field "typ"',
    );
    const one = (merge: string) => parse(`{match: {rpc: GetInfo}, then: [{respond: {merge: ${merge}}}]}`);
    expect(one('{type: DRAPlugin, name: x, endpoint: /e, supported_versions: ["2.0.0"]}').problems).toEqual(
      [],
    );
    expect(one('{supported_versions: 2}').problems.join()).toContain('expected a list, found 2');
  });

  it('a condition may look at the verdict', () => {
    const where = (text: string) =>
      parse(`{match: {rpc: NotifyRegistrationStatus, where: "${text}"}, then: [{error: INTERNAL}]}`).problems;
    expect(where('request.plugin_registered == true')).toEqual([]);
    expect(where('request.registered == true').join()).toContain('unknown field "registered"');
  });

  it.each(['"*"', '"!Probe"', '"Get*"', '[Probe, "N*"]'])('rpc: %s does not mean it', (rpc) => {
    const { rule } = parse(`{match: {rpc: ${rpc}}, then: [{delay: 1s}]}`);
    expect(rule?.match.methods?.size).toBeGreaterThan(0);
    expect(rule?.match.methods?.has('GetInfo')).toBe(false);
    expect(rule?.match.methods?.has('NotifyRegistrationStatus')).toBe(false);
  });

  it('is meant by name, also beside others', () => {
    const { rule } = parse('{match: {rpc: [GetInfo, NodeGetInfo]}, then: [{delay: 2s}]}');
    expect([...(rule?.match.methods ?? [])].sort()).toEqual(['GetInfo', 'NodeGetInfo']);
    expect(parse('{match: {rpc: GetInf}, then: [{delay: 2s}]}').problems.join()).toContain(
      'unknown RPC "GetInf" (did you mean "GetInfo"?)',
    );
  });

  it.each(['volume: {id: x}', 'pod: {name: x}', 'state: {volume: staged}'])('has no %s', (key) => {
    const { problems } = parse(`{match: {service: registration, ${key}}, then: [{delay: 1s}]}`);
    expect(problems.join()).toContain('can never match: GetInfo, NotifyRegistrationStatus');
  });
});

describe('a rule that acts by time', () => {
  const step = 'then: [{registration: {unregister: true}}]';

  it.each([
    ['with a duty cycle', 'when: {window: {up: 40s, down: 15s}}', true],
    ['with a cron window', 'when: {window: {cron: "*/5 * * * *", for: 20s}}', true],
    ['after a time', 'when: {after: 30s}', true],
    ['after another rule', 'when: {after: {event: "fired:rule-1x"}}', true],
    ['that says no time', 'when: {times: 3}', false],
  ])('%s', (_, when, timed) => {
    const text = `{name: rule-1x, match: {rpc: Probe}, then: [{delay: 1s}]}, {match: {service: registration}, ${when}, ${step}}`;
    const { scenarios, problems } = parseScenarios(`${HEADER}  rules: [${text}]\n`, 's.yaml');
    expect(problems.map(formatProblem)).toEqual([]);
    const rule = scenarios[0]?.rules[1];
    expect(rule && actsByTime(rule)).toBe(timed);
  });

  it('is none when it is about other calls too', () => {
    const { rule } = parse(`{match: {service: [registration, node]}, when: {after: 1s}, ${step}}`);
    expect(rule && actsByTime(rule)).toBe(false);
  });

  it.each(['error: INTERNAL', 'hang: release', 'respond: {merge: {}}'])('has no call for %s', (other) => {
    const { problems } = registration(`when: {after: 1s}, then: [{registration: {dead: true}}, {${other}}]`);
    expect(problems.join()).toContain(`there is no call for ${other.split(':')[0]}`);
  });
});

it('the flap of the registration is read as it was written down', () => {
  const text = `${HEADER}  rules:
  - {name: flap, match: {service: registration}, when: {window: {up: 40s, down: 15s}}, then: [{registration: {unregister: true, for: 15s}}]}
  - {name: noinfo, match: {rpc: NodeGetInfo}, sequence: "50%2*UNAVAILABLE(warming up) -> ok"}
  expect: [{eventually: {registration: registered}, within: 90s}, {fired: {rule: flap, times: ">=2"}}]
`;
  const { scenarios, problems } = parseScenarios(text, 's.yaml');
  expect(problems.map(formatProblem)).toEqual([]);
  expect(scenarios[0]?.expect.map(({ kind }) => kind)).toEqual(['registration', 'fired']);
});
