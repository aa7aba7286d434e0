// Child processes: each in a process group of its own, so that a signal or a timeout reaches all of its tree.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

/** The last part of the output that is kept: enough for a failing suite, bounded for one that loops. */
const KEPT_OUTPUT = 2 * 1024 * 1024;

const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Exit status as a shell gives it: 128 + number of the signal. */
function statusOf(code, signal) {
  return code ?? 128 + (constants.signals[signal] ?? 0);
}

/** Signals the whole group of a child; one that has ended is no error. */
function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Owns the children that run now. When this process is told to stop, it stops them before it goes, and no
 * child outlives it.
 */
class Children {
  #running = new Set();
  #leaving = false;

  /**
   * From now on SIGINT, SIGTERM and SIGHUP end every child's group, call `last`, and exit as a shell would.
   * @returns {() => void} takes that back.
   */
  stopWithUs(last = () => {}) {
    const stop = async (signal) => {
      this.#leaving = true;
      await this.stopAll();
      last(signal);
      process.exit(statusOf(null, signal));
    };
    for (const signal of STOPPING) process.once(signal, stop);
    return () => {
      for (const signal of STOPPING) process.off(signal, stop);
    };
  }

  async stopAll() {
    await Promise.all([...this.#running].map((child) => this.stop(child, 5_000)));
  }

  /** SIGTERM to the group, SIGKILL when it has not ended after `patience` ms. */
  async stop(child, patience) {
    const ended = new Promise((resolve) => {
      if (!this.#running.has(child)) resolve();
      else child.once('close', resolve);
    });
    signalGroup(child, 'SIGTERM');
    const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), patience);
    await ended;
    clearTimeout(timer);
  }

  /** Starts a program in a group of its own. `options` are those of child_process.spawn. */
  start(command, args, options = {}) {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options, detached: true });
    if (child.pid !== undefined) this.#running.add(child);
    child.once('close', () => this.#running.delete(child));
    return child;
  }

  /**
   * Runs a program to its end.
   * @param {object} options spawn's, and `timeoutMs` and `abort` (an AbortSignal): each then stops the group.
   * @returns {Promise<{ status: number, output: string, timedOut: boolean, ms: number }>} `output` is stdout and
   *   stderr as they came. A program that cannot be started has status 127, as in a shell.
   */
  run(command, args, { timeoutMs, abort, ...options } = {}) {
    const started = process.hrtime.bigint();
    const child = this.start(command, args, options);
    let output = '';
    let timedOut = false;
    const keep = (chunk) => {
      output = (output + chunk).slice(-KEPT_OUTPUT);
    };
    child.stdout?.setEncoding('utf8').on('data', keep);
    child.stderr?.setEncoding('utf8').on('data', keep);
    const stop = () => void this.stop(child, 5_000);
    abort?.addEventListener('abort', stop);
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            stop();
          }, timeoutMs);
    return new Promise((resolve) => {
      const settle = (status) => {
        // Told to stop, we are leaving: nobody shall take the end of a child for a result.
        if (this.#leaving) return;
        clearTimeout(timer);
        abort?.removeEventListener('abort', stop);
        resolve({ status, output, timedOut, ms: Number((process.hrtime.bigint() - started) / 1_000_000n) });
      };
      child.once('error', (error) => {
        output += `${command}: ${error.message}\n`;
        if (child.pid === undefined) settle(127);
      });
      child.once('close', (code, signal) => settle(timedOut ? 124 : statusOf(code, signal)));
    });
  }
}

module.exports = { Children, STOPPING, statusOf };
