// A Docker daemon of our own, in a folder of its own: the machine's, if it has one, is not touched.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');

const { findProgram, privateMounts } = require('../machine.cjs');

const START_MS = 60_000;
const BUILD_MS = 20 * 60_000;

class Docker {
  #children;
  #folder;
  #daemon;

  constructor(children, folder) {
    this.#children = children;
    this.#folder = folder;
  }

  get #socket() {
    return path.join(this.#folder, 'docker.sock');
  }

  /** No bridge and no rules of a firewall: containers use the host's network. @throws Error with the daemon's log. */
  async start() {
    const at = (name) => path.join(this.#folder, name);
    const log = fs.openSync(at('dockerd.log'), 'a');
    const places = ['--data-root', at('root'), '--exec-root', at('exec'), '--pidfile', at('pid')];
    const network = ['--bridge=none', '--iptables=false', '--ip-masq=false'];
    const listen = ['--host', `unix://${this.#socket}`];
    // A daemon that ends leaves mounts behind; in a namespace of its own they go with it.
    const [command, ...words] = [...(privateMounts() ?? []), findProgram('dockerd')];
    this.#daemon = this.#children.start(command, [...words, ...places, ...network, ...listen], {
      stdio: ['ignore', log, log],
    });
    fs.closeSync(log);
    const until = Date.now() + START_MS;
    while ((await this.#docker(['version'])).status !== 0) {
      if (this.#daemon.exitCode !== null || Date.now() > until)
        throw new Error(`dockerd does not start: ${fs.readFileSync(at('dockerd.log'), 'utf8').slice(-2000)}`);
      await sleep(200);
    }
  }

  async stop() {
    if (this.#daemon !== undefined) await this.#children.stop(this.#daemon, 30_000);
  }

  #docker(args, options = {}) {
    return this.#children.run('docker', ['--host', `unix://${this.#socket}`, ...args], options);
  }

  /** @returns {Promise<string>} what it printed. @throws Error with that when it failed. */
  async say(...args) {
    const { status, output } = await this.#docker(args);
    if (status !== 0) throw new Error(`docker ${args[0]} ended with ${status}: ${output.slice(-4000)}`);
    return output;
  }

  /** `docker run` to the end, or in the background with `-d`; the container is removed. */
  run(...args) {
    const gone = args[0] === '-d' ? [] : ['--rm'];
    return this.say('run', ...gone, '--network', 'host', ...args);
  }

  /** Waits until a container's log has `pattern`. */
  async logged(container, pattern) {
    const until = Date.now() + START_MS;
    for (;;) {
      const log = await this.say('logs', container);
      if (pattern.test(log)) return;
      if (Date.now() > until) throw new Error(`expected ${pattern} in the log, found: ${log}`);
      await sleep(200);
    }
  }

  import(archive, tag) {
    return this.say('import', archive, tag);
  }

  async build(context, { tag, base }) {
    const args = ['build', '--network', 'host', '--build-arg', `BASE=${base}`, '--tag', tag, context];
    // Debian's docker.io brings no BuildKit client.
    const env = { ...process.env, DOCKER_BUILDKIT: '0' };
    const { status, output } = await this.#docker(args, { env, timeoutMs: BUILD_MS });
    if (status !== 0) throw new Error(`docker build failed: ${output.slice(-4000)}`);
  }

  async tar(...args) {
    const { status, output } = await this.#children.run('tar', args);
    if (status !== 0) throw new Error(`tar failed: ${output}`);
  }
}

module.exports = { Docker };
