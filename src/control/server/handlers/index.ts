import { openApi } from '../../api/openapi';
import type { Handlers } from '../exchange';
import { callHandlers } from './calls';
import { heldHandlers } from './held';
import { ruleHandlers } from './rules';
import { scenarioHandlers } from './scenarios';
import { statusHandlers } from './status';
import { verifyHandlers } from './verify';
import { volumeHandlers } from './volumes';

export const handlers: Handlers = {
  ...statusHandlers,
  ...scenarioHandlers,
  ...ruleHandlers,
  ...volumeHandlers,
  ...heldHandlers,
  ...callHandlers,
  ...verifyHandlers,
  openApi: () => openApi(),
};
