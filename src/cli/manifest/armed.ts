import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseScenarioFile } from '../../scenarios/language';
import { filesAt } from '../../scenarios/library/source';

/** `kubectl apply` keeps what it applied in an annotation; all of an object's together have 256 KiB. */
const MOST_BYTES = 240 * 1024;

/**
 * The files as a ConfigMap's data; undefined when none is named.
 * @throws Error, with every problem in `errors`, when one is no scenario, or when two cannot be together.
 */
export function armedScenarios(places: readonly string[]): Record<string, string> | undefined {
  if (places.length === 0) return undefined;
  const data: Record<string, string> = {};
  const scenarioIn = new Map<string, string>();
  for (const file of places.flatMap(filesAt)) {
    const { scenarios, problems } = parseScenarioFile(file);
    const errors = problems.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) throw Object.assign(new Error(`${file}: no scenario`), { errors });
    const key = path.basename(file);
    if (!/^[\w.-]+\.ya?ml$/.test(key))
      throw new Error(
        `--scenario: expected a file name of letters, digits, dots and dashes that ends in .yaml, found ${JSON.stringify(key)}`,
      );
    if (key in data)
      throw new Error(`--scenario: expected files of different names, found ${key} twice; rename one`);
    for (const { name } of scenarios) {
      const other = scenarioIn.get(name);
      if (other !== undefined)
        throw new Error(`--scenario: expected each scenario once, found "${name}" in ${other} and ${file}`);
      scenarioIn.set(name, file);
    }
    data[key] = fs.readFileSync(file, 'utf8');
  }
  const bytes = Buffer.byteLength(JSON.stringify(data));
  if (bytes > MOST_BYTES)
    throw new Error(
      `--scenario: expected at most ${MOST_BYTES} bytes, which is what kubectl apply takes; found ${bytes}; name fewer files`,
    );
  return data;
}
