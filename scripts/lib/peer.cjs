// A CSI driver that is not ours: the mock of Kubernetes' own end-to-end tests (test/peers/kubernetes-mock), built from
// its pinned Go module, on a socket.
'use strict';

const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');

const { goBuild, goBuildIsStale, goProblem } = require('./go.cjs');

/** How long it may take to listen. */
const PATIENCE_MS = 10_000;
/** Between two lives, so that one which cannot even start does not spin. */
const PAUSE_MS = 100;

/** What a CO relies on is on: without it the mock wants target paths to be there. */
const FLAGS = ['-permissive-target-path'];

/** @returns {Promise<{ binary: string } | { problem: string }>} */
async function buildPeer(children, root, say) {
  const moduleDir = path.join(root, 'test/peers/kubernetes-mock');
  const binary = path.join(root, '.cache/bin/kubernetes-mock');
  if (!goBuildIsStale(moduleDir, binary)) return { binary };
  const problem = goProblem(moduleDir);
  if (problem !== null) return { problem };
  say("building the mock driver of Kubernetes' tests");
  const failed = await goBuild(children, { moduleDir, packagePath: '.', binary });
  return failed === null ? { binary } : { problem: failed.trim() };
}

/** Whether somebody listens at a Unix socket. */
function answers(socket) {
  return new Promise((resolve) => {
    const connection = net.connect(socket);
    connection.once('error', () => resolve(false));
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The mock, started again whenever it dies, as the kubelet does with a container. */
class SupervisedPeer {
  #children;
  #child;
  #socket;
  #stopped = false;
  /** First lines of what it said when it died, one for each time. */
  deaths = [];

  constructor(children, binary, socket, { name = 'fake.csi.test', flags = FLAGS } = {}) {
    this.#children = children;
    this.#socket = socket;
    const args = ['-endpoint', `unix://${socket}`, '-driver-name', name, ...flags];
    const live = () => {
      // It may have died just before it was to be stopped.
      if (this.#stopped) return;
      // A process that was killed leaves its socket behind, and does not listen where there is one.
      fs.rmSync(socket, { force: true });
      let said = '';
      this.#child = children.start(binary, args);
      for (const stream of [this.#child.stdout, this.#child.stderr])
        stream.setEncoding('utf8').on('data', (text) => {
          said = (said + text).slice(-64 * 1024);
        });
      this.#child.once('close', (code) => {
        if (this.#stopped) return;
        this.deaths.push(
          /^(?:panic|fatal error): .*/m.exec(said)?.[0] ?? `exit code ${code}: ${said.trim()}`,
        );
        setTimeout(live, PAUSE_MS);
      });
    };
    live();
  }

  /** @throws Error when it does not listen in time */
  async ready() {
    const socket = this.#socket;
    const until = Date.now() + PATIENCE_MS;
    while (!(await answers(socket))) {
      if (Date.now() > until)
        throw new Error(`the mock does not listen on ${socket}: ${this.deaths.at(-1) ?? 'it says nothing'}`);
      await pause(20);
    }
  }

  async stop() {
    this.#stopped = true;
    await this.#children.stop(this.#child, 2_000);
  }
}

module.exports = { SupervisedPeer, buildPeer };
