// Runs programs to their end.
'use strict';

const { spawn } = require('node:child_process');

const { statusOf } = require('../process.cjs');

/**
 * @param {string[]} words the program and its arguments.
 * @param {object} options spawn's, and `input` (text for stdin).
 * @returns {Promise<{ status: number, stdout: string, stderr: string }>} 127 when there is no such program.
 */
function run([command, ...args], { input, ...options } = {}) {
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const child = spawn(command, args, { stdio: [stdin, 'pipe', 'pipe'], ...options });
  const said = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    said.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    said.stderr += text;
  });
  // A program that ends early leaves the rest unread.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ ...said, status: 127, stderr: `${command}: ${error.message}` }));
    child.once('close', (code, signal) => resolve({ ...said, status: statusOf(code, signal) }));
  });
}

/** @returns {Promise<string>} what it printed. @throws Error with what it said when it failed. */
async function must(words, options) {
  const { status, stdout, stderr } = await run(words, options);
  if (status === 0) return stdout;
  throw new Error(`${words.join(' ')} ended with ${status}: ${(stderr || stdout).trim().slice(-2000)}`);
}

module.exports = { must, run };
