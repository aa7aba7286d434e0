import type { CommandModule } from 'yargs';
import { asModule } from '../command';
import { calls } from './calls';
import { conformance } from './conformance';
import { doctor } from './doctor';
import { explain } from './explain';
import { inspect } from './inspect';
import { machine } from './machine';
import { manifest } from './manifest';
import { mark } from './mark';
import { reap } from './reap';
import { rehearse } from './rehearse';
import { release } from './release';
import { reset } from './reset';
import { rule } from './rule';
import { scenario } from './scenario';
import { status } from './status';
import { verify } from './verify';
import { volumes } from './volumes';

/** In the order of --help: what people do first comes first. */
export const commands: readonly CommandModule[] = [
  asModule(scenario),
  asModule(rule),
  asModule(rehearse),
  asModule(conformance),
  asModule(inspect),
  asModule(calls),
  asModule(explain),
  asModule(release),
  asModule(verify),
  asModule(reset),
  asModule(volumes),
  asModule(status),
  asModule(doctor),
  asModule(manifest),
  asModule(reap),
  asModule(mark),
  asModule(machine),
];
