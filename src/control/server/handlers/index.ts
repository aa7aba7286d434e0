import type { Handlers } from '../exchange';
import { callHandlers } from './calls';
import { heldHandlers } from './held';
import { scenarioHandlers } from './scenarios';
import { statusHandlers } from './status';
import { volumeHandlers } from './volumes';

/** The language of scenarios takes a while to load: what needs it is loaded when it is first asked for. */
const rules = () => (require('./rules') as typeof import('./rules')).ruleHandlers;
const verdicts = () => (require('./verify') as typeof import('./verify')).verifyHandlers;
const description = () => require('../../api/openapi') as typeof import('../../api/openapi');

export const handlers: Handlers = {
  ...statusHandlers,
  ...scenarioHandlers,
  ...volumeHandlers,
  ...heldHandlers,
  ...callHandlers,
  rule: (asked, context) => rules().rule(asked, context),
  removeRule: (asked, context) => rules().removeRule(asked, context),
  verify: (...asked) => verdicts().verify(...asked),
  openApi: () => description().openApi(),
};
