// A cluster that may be running: its components, what they wrote, and kubectl.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const { must, run } = require('./command.cjs');
const { COMPONENT_NAMES, argumentsOf } = require('./components.cjs');
const { DEFAULT_FOLDER, NODE, layoutOf } = require('./layout.cjs');
const { USUAL_LINE } = require('./lines.cjs');
const { componentWords, findInit, insideWords, networkWords, processesIn } = require('./namespaces.cjs');
const { commandOf, innermostPid, isAlive, programOf, signal } = require('./processes.cjs');
const { until } = require('./wait.cjs');

const STOP_MS = 30_000;

class Cluster {
  /** @param {string} folder everything of the cluster is in it; two clusters have two. */
  constructor(folder = DEFAULT_FOLDER) {
    this.layout = layoutOf(path.resolve(folder));
    /** The name of its one node. */
    this.node = NODE.name;
  }

  /** The line of Kubernetes that it is made of, '1.36'. */
  get kubernetes() {
    const { line } = this.layout;
    return fs.existsSync(line) ? fs.readFileSync(line, 'utf8') : USUAL_LINE;
  }

  /** The first process of its namespaces, as the host numbers it; null when it is not running. */
  get init() {
    return findInit(this.layout);
  }

  #running() {
    const init = this.init;
    if (init === null)
      throw new Error(`no cluster runs in ${this.layout.folder}: start it with npm run cluster -- up`);
    return init;
  }

  /** The process of a component, as the host numbers it; null when it does not run. */
  pidOf(component) {
    const program = this.layout.program(component);
    const init = this.init;
    return init === null ? null : (processesIn(init).find((pid) => programOf(pid) === program) ?? null);
  }

  /** Starts a component that does not run, and does not wait for it to be ready. Its log grows at `layout.log(component)`. */
  start(component) {
    const words = [this.layout.program(component), ...argumentsOf(this.layout, component)];
    if (this.pidOf(component) !== null) return;
    const log = fs.openSync(this.layout.log(component), 'a');
    const [command, ...args] = [...componentWords(this.#running()), ...words];
    // containerd looks for shims and runc on it.
    const env = { PATH: `${this.layout.bin}:/usr/sbin:/usr/bin:/sbin:/bin`, HOME: '/root' };
    spawn(command, args, { stdio: ['ignore', log, log], detached: true, env }).unref();
    fs.closeSync(log);
  }

  /** Ends a component and waits for its end: SIGKILL for a crash. One that does not run is no error. */
  async stop(component, signalName = 'SIGTERM') {
    const pid = this.pidOf(component);
    if (pid === null) return;
    signal(pid, signalName);
    await until(() => !isAlive(pid), { what: `the end of ${component}`, ms: STOP_MS, every: 50 });
  }

  /** Ends it, starts it, and waits until it is ready again. */
  async restart(component, signalName = 'SIGTERM') {
    await this.stop(component, signalName);
    this.start(component);
    await this.ready(component);
  }

  /** Waits until a component that was started does its work. @throws Error with the end of its log. */
  async ready(component, ms = 60_000) {
    await until(() => this.#isReady(component), {
      what: `${component} ready`,
      ms,
      why: () => `. The end of its log:\n${this.logEnd(component)}`,
    });
  }

  async #isReady(component) {
    if (this.pidOf(component) === null) return false;
    const probe = {
      etcd: () => this.inside(['curl', '-sf', 'http://127.0.0.1:2379/health']),
      containerd: () => this.ctr(['version']),
      'kube-apiserver': () => this.kubectl(['get', '--raw', '/readyz']),
      kubelet: () => this.inside(['curl', '-sf', 'http://127.0.0.1:10248/healthz']),
      'kube-controller-manager': () => this.inside(['curl', '-skf', 'https://127.0.0.1:10257/healthz']),
      'kube-scheduler': () => this.inside(['curl', '-skf', 'https://127.0.0.1:10259/healthz']),
    }[component];
    return (await probe()).status === 0;
  }

  logEnd(component, bytes = 2000) {
    const file = this.layout.log(component);
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').slice(-bytes) : '';
  }

  /** The words that run kubectl as an administrator. Files it is given are those of the host. */
  kubectlWords(args) {
    const { kubeconfig, kubectlCache } = this.layout;
    // kubectl keeps what an address serves for six hours, and all clusters have one address.
    const own = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${kubectlCache}`];
    return [...networkWords(this.#running()), this.layout.program('kubectl'), ...own, ...args];
  }

  /** @param {object} options those of run() in command.cjs. @returns {Promise<{status, stdout, stderr}>} */
  kubectl(args, options) {
    return run(this.kubectlWords(args), options);
  }

  /** @returns {Promise<string>} what kubectl printed. @throws Error with what it said when it failed. */
  mustKubectl(args, options) {
    return must(this.kubectlWords(args), options);
  }

  /** @returns {Promise<object>} what `kubectl … -o json` printed. */
  async json(args, options) {
    return JSON.parse(await this.mustKubectl([...args, '-o', 'json'], options));
  }

  /** @param {string | object | object[]} manifests YAML text, or objects. */
  apply(manifests) {
    const items = { apiVersion: 'v1', kind: 'List', items: [manifests].flat() };
    const input = typeof manifests === 'string' ? manifests : JSON.stringify(items);
    return this.mustKubectl(['apply', '-f', '-'], { input });
  }

  /** Runs a program of the host as the cluster's own processes run: with its mounts, network and processes. */
  inside(words, options) {
    return run([...insideWords(this.#running()), ...words], options);
  }

  mustInside(words, options) {
    return must([...insideWords(this.#running()), ...words], options);
  }

  ctr(args, options) {
    return this.inside(
      ['ctr', '--address', this.layout.containerd.socket, '--namespace', 'k8s.io', ...args],
      options,
    );
  }

  /** Takes archives of images in. */
  async importImages(archives) {
    for (const archive of archives) {
      const { status, stderr } = await this.ctr(['images', 'import', archive]);
      if (status !== 0) throw new Error(`${archive} cannot be imported: ${stderr}`);
    }
  }

  /** The mount table as the kubelet sees it: lines of /proc/PID/mountinfo. */
  mountinfo() {
    return fs.readFileSync(`/proc/${this.#running()}/mountinfo`, 'utf8').trimEnd().split('\n');
  }

  /**
   * Processes of the cluster whose command line matches, as the host numbers them: those of containers too, such as the
   * driver's, `/fake-csi serve --services=node/`.
   */
  processes(pattern) {
    return processesIn(this.#running()).filter((pid) => pattern.test(commandOf(pid) ?? ''));
  }

  /** One line for each component, in the order of their start. */
  components() {
    return COMPONENT_NAMES.map((name) => {
      const pid = this.pidOf(name);
      return { name, pid, inside: pid === null ? null : innermostPid(pid) };
    });
  }
}

module.exports = { Cluster };
