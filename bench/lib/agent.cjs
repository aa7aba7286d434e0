// A bench client and the driver it started, in a mount namespace of their own: what one driver mounts is no cost to
// another, and everything is gone with the namespace.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

/** The slowest single operation: draining 1000 volumes of the slowest driver seen took 83 s. */
const PATIENCE_MS = 10 * 60_000;

class Agent {
  #children;
  #child;
  #lines;
  #ended;

  constructor(children, { client, variant, dir, privateMounts, size }) {
    this.#children = children;
    this.variant = variant;
    this.dir = dir;
    fs.mkdirSync(path.join(dir, 'csi'), { recursive: true });
    fs.mkdirSync(path.join(dir, 'data'), { recursive: true });
    const socket = path.join(dir, 'csi/csi.sock');
    const words = [
      ...privateMounts,
      client,
      '-socket',
      socket,
      '-dir',
      dir,
      '-fs',
      variant.fsType,
      '-size',
      String(size),
      '--',
      ...variant.command({ socket, dir }),
    ];
    this.#child = children.start(words[0], words.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    // A client that dies is seen by its missing answer.
    this.#child.stdin.on('error', () => {});
    this.#lines = readline.createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  /** One operation of the client (bench/client/main.go). @returns its result. */
  async do(op, fields = {}) {
    this.#child.stdin.write(`${JSON.stringify({ op, ...fields })}\n`);
    const timer = setTimeout(() => void this.#children.stop(this.#child, 1_000), PATIENCE_MS);
    const { value, done } = await this.#lines.next();
    clearTimeout(timer);
    if (done) throw new Error(`${this.variant.name}: the bench client ended during ${op}`);
    const reply = JSON.parse(value);
    if (reply.error !== undefined) throw new Error(`${this.variant.name}: ${reply.error}${this.#logTail()}`);
    return reply.result;
  }

  #logTail() {
    const file = path.join(this.dir, 'driver.log');
    if (!fs.existsSync(file)) return '';
    return `\n-- the driver's log ends:\n${fs.readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n')}`;
  }

  /** Ends the driver and the client. */
  async end() {
    this.#child.stdin.end();
    await this.#ended;
  }
}

module.exports = { Agent };
