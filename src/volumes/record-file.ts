import { Code, CsiError } from '../csi/status';
import { errnoOf, readIfThere } from '../util/files';
import { RECORD_VERSION } from './records';

/** A record that is there but cannot be used. Nothing is ever deleted because of it. */
export class UnreadableRecord extends CsiError {
  constructor(
    readonly file: string,
    readonly found: string,
  ) {
    super(
      Code.INTERNAL,
      `the record ${file} is not usable: expected a JSON object of version ${RECORD_VERSION}, found ${found}; ` +
        'restore the file, or remove its folder if the volume may be forgotten',
    );
  }
}

/** Reads one record. @returns undefined when there is no such file. @throws UnreadableRecord */
export function readRecord<T extends { version: number }>(
  file: string,
  required: readonly (keyof T & string)[],
): T | undefined {
  let text: string | undefined;
  try {
    text = readIfThere(file);
  } catch (error) {
    throw new UnreadableRecord(file, `${errnoOf(error) ?? error} on reading it`);
  }
  return text === undefined ? undefined : parseRecord<T>(file, text, required);
}

export function parseRecord<T extends { version: number }>(
  file: string,
  text: string,
  required: readonly (keyof T & string)[],
): T {
  if (text === '') throw new UnreadableRecord(file, 'an empty file');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UnreadableRecord(file, `${text.length} characters that are no JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UnreadableRecord(file, `JSON that is no object`);
  const record = value as T;
  if (record.version !== RECORD_VERSION)
    throw new UnreadableRecord(file, `version ${JSON.stringify(record.version)}`);
  for (const name of required)
    if (record[name] === undefined) throw new UnreadableRecord(file, `no "${name}" in it`);
  return record;
}
