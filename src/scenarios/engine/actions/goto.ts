import type { Perform } from './action';

export const goto: Perform<'goto'> = ({ machine, state }, { changeMachine }) => changeMachine(machine, state);
