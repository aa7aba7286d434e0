import type { Capabilities } from '../../csi/capabilities';
import { type CsiError, type CsiErrorOptions, invalidArgument } from '../../csi/status';

/** What the rules depend on beside the request: the capabilities this plugin advertises. */
export interface RuleConfig extends Capabilities {
  /**
   * Hold volume_context to 4 KiB; true unless set to false. The kubelet adds pod data to what the driver chose
   * and does not count.
   */
  readonly strictLimits?: boolean;
}

/**
 * Looks at one value and throws a CsiError when it breaks a rule. `at` is the path of the field in its request,
 * such as `volume_capabilities[1].access_mode.mode`.
 */
export type Check<Value> = (value: Value, at: string, config: RuleConfig) => void;

/** A field without a rule of its own. */
export const anything: Check<unknown> = () => {};

/**
 * Checks the fields of a message in the order in which they are written. Every field must be named, so that none
 * is forgotten when the .proto grows.
 */
export function message<Message extends object>(
  checks: {
    [F in keyof Required<Message>]: Check<Message[F]>;
  },
): Check<Message> {
  const list = Object.entries(checks) as [keyof Message & string, Check<unknown>][];
  return (value, at, config) => {
    for (const [field, check] of list) check(value[field], at === '' ? field : `${at}.${field}`, config);
  };
}

/** A message field that may be absent. */
export function optional<Message extends object>(check: Check<Message>): Check<Message | null> {
  return (value, at, config) => {
    if (value) check(value, at, config);
  };
}

export function required<Message extends object>(check: Check<Message>): Check<Message | null> {
  return (value, at, config) => {
    if (!value) throw invalid(at, 'a value (required field)', 'none');
    check(value, at, config);
  };
}

export function each<Value>(check: Check<Value>): Check<Value[]> {
  return (values, at, config) => {
    for (let i = 0; i < values.length; i++) check(values[i] as Value, `${at}[${i}]`, config);
  };
}

export function atLeastOne<Value>(check: Check<Value>): Check<Value[]> {
  const all = each(check);
  return (values, at, config) => {
    if (values.length === 0) throw invalid(at, 'at least one element (required field)', 'none');
    all(values, at, config);
  };
}

/** Several rules for one field, first to last. */
export function allOf<Value>(...checks: Check<Value>[]): Check<Value> {
  return (value, at, config) => {
    for (const check of checks) check(value, at, config);
  };
}

/** A field that may only be set when the plugin advertises a capability. */
export function onlyWith<Value>(
  kind: keyof Capabilities,
  capability: string,
  isSet: (value: Value) => boolean,
): Check<Value> {
  return (value, at, config) => {
    if (isSet(value) && !config[kind].has(capability)) {
      throw invalid(at, `it unset, as ${kind} capability ${capability} is not advertised`, 'it set');
    }
  };
}

/** INVALID_ARGUMENT in the one form all rules use. Never pass the value of a secret or a mount flag. */
export function invalid(at: string, expected: string, found: string, options?: CsiErrorOptions): CsiError {
  return invalidArgument(broken(at, expected, found), options);
}

export function broken(at: string, expected: string, found: string): string {
  return `${at}: expected ${expected}; found ${found}`;
}

/** A value from the request for use in a message: quoted, on one line, not longer than people read. */
export function quote(value: string): string {
  const shown = value.length > 80 ? `${value.slice(0, 80)}…` : value;
  return JSON.stringify(shown);
}
