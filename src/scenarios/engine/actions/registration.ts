import type { RegistrationAct } from '../../model';
import type { Perform } from './action';

const WHAT: Readonly<Record<RegistrationAct['kind'], string>> = {
  unregister: 'registration socket removed',
  dead: 'registration socket left without a listener',
  silent: 'registration socket made to say nothing',
  second: 'second registration socket of the same driver made',
};

export const registration: Perform<'registration'> = ({ act }, { fire, call, registration: control }) => {
  const { state } = fire;
  if (!control) {
    call.effect(`registration left alone: this driver does not register itself (--register)`);
    return;
  }
  const length = act.forMs === undefined ? '' : ` for ${act.forMs} ms`;
  call.effect(`${WHAT[act.kind]}${length} by ${state.name}`);
  control.act(act, { scenario: state.scenario.scenario.name, rule: state.rule.name });
};
