import { spawn } from 'node:child_process';
import type { Strings } from '../../conformance/hints';
import type { DriverRun } from '../../conformance/probe';

/** A process that is wrong in its beginning says so at once. */
const LIMIT_MS = 15_000;

/** Starts a command with more variables, and waits for its end. @returns undefined when it still ran, and was ended */
export function runDriver(words: readonly string[], environment: Strings): Promise<DriverRun | undefined> {
  const [command = '', ...rest] = words;
  return new Promise((resolve, reject) => {
    const child = spawn(command, rest, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    let isLate = false;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, LIMIT_MS);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(new Error(`--command ${command}: expected a program that can be started: ${error.message}`));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(isLate ? undefined : { code, stderr });
    });
  });
}
