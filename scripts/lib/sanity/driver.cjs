// One `fake-csi serve` of a test run: its folder, its socket, its log, its end.
'use strict';

const { NODE_FLAGS } = require('../node-flags.cjs');
const fs = require('node:fs');
const path = require('node:path');

const { probed } = require('./probe.cjs');

/**
 * A start and a stop take well under a second each; in an emulated guest on a busy machine the start has taken 20 s.
 * A driver that ends instead is noticed at once.
 */
const PATIENCE = 120_000;

class DriverRun {
  #children;
  #child;
  #ended = null;
  #end = new AbortController();

  constructor(children, folder) {
    this.#children = children;
    this.dataDir = path.join(folder, 'data');
    this.socket = path.join(this.dataDir, 'csi/csi.sock');
    this.logFile = path.join(folder, 'driver.log');
  }

  get alive() {
    return this.#ended === null;
  }

  /** Aborted once the driver has ended, however. */
  get end() {
    return this.#end.signal;
  }

  /** Starts `fake-csi serve` and returns after the first Probe that is OK. */
  async start(root, serveArguments) {
    const log = fs.openSync(this.logFile, 'a');
    const args = ['serve', '--data-dir', this.dataDir, '--node-id', 'sanity-node', ...serveArguments];
    this.#child = this.#children.start(
      process.execPath,
      [...NODE_FLAGS, path.join(root, 'dist/cli/main.js'), ...args],
      {
        cwd: root,
        stdio: ['ignore', log, log],
        // What the caller's shell exports for other drivers must not redirect this one.
        env: { ...process.env, CSI_ENDPOINT: undefined },
      },
    );
    fs.closeSync(log);
    this.#child.once('exit', (code, signal) => {
      this.#ended = { code, signal };
      this.#end.abort();
    });
    await probed(this.socket, { alive: () => this.alive, patience: PATIENCE });
  }

  /** SIGTERM. @returns {Promise<string[]>} what was wrong with the way it ended. */
  async stop() {
    if (this.#child === undefined) return [];
    const early = !this.alive;
    await this.#children.stop(this.#child, PATIENCE);
    const how = this.#ended.signal ?? `status ${this.#ended.code}`;
    if (early) return [`the driver ended by itself (${how})`];
    if (this.#ended.code !== 0) return [`the driver did not end cleanly on SIGTERM (${how})`];
    return fs.existsSync(this.socket) ? [`the driver left its socket ${this.socket}`] : [];
  }

  /** The last lines of its log. */
  logTail(lines = 40) {
    if (!fs.existsSync(this.logFile)) return '';
    return fs.readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  }
}

module.exports = { DriverRun };
