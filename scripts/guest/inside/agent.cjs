// Runs inside the guest: executes the plan's phases one after the other and tells the host, one JSON object a line:
//
//   { event: 'booted', release, capEff, uptime }                    before the first phase; uptime in seconds
//   { event: 'output', phase, data }                                what a phase writes to stdout and stderr
//   { event: 'ended', phase, status, timedOut, seconds, result }    result: text of the phase's result file, or null
//   { event: 'done' }                                               after the last phase
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');

const PORT_NAME = 'fake-csi.events';
const PORTS = '/sys/class/virtio-ports';

/** How long a daemon that a phase left behind may hold the phase's pipes open after its end, in ms. */
const DRAIN = 2_000;

/** There is no udev here that would link /dev/virtio-ports/<name>, so the port is found by its name in sysfs. */
function openPort() {
  const port = fs.readdirSync(PORTS).find((name) => {
    const file = `${PORTS}/${name}/name`;
    return fs.existsSync(file) && fs.readFileSync(file, 'utf8').trim() === PORT_NAME;
  });
  if (port === undefined) throw new Error(`expected a virtio-serial port named ${PORT_NAME}, found none`);
  return fs.openSync(`/dev/${port}`, 'r+');
}

/** Writes all of it: the port takes at most 32 KiB at once. */
function send(port, event) {
  const line = Buffer.from(`${JSON.stringify(event)}\n`);
  for (let sent = 0; sent < line.length; ) sent += fs.writeSync(port, line, sent);
}

/** Runs a phase in a process group of its own, so that its time limit takes its children down as well. */
async function runPhase(port, phase) {
  const began = process.hrtime.bigint();
  const child = spawn('/bin/sh', ['-c', phase.command], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    process.kill(-child.pid, 'SIGKILL');
  }, phase.timeoutMs);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (data) => send(port, { event: 'output', phase: phase.name, data }));
  }
  const closed = new Promise((resolve) => child.once('close', resolve));
  const status = await new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? 128 + os.constants.signals[signal])),
  );
  clearTimeout(timer);
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, DRAIN))]);
  const there = phase.resultFile !== undefined && fs.existsSync(phase.resultFile);
  const result = there ? fs.readFileSync(phase.resultFile, 'utf8') : null;
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  send(port, { event: 'ended', phase: phase.name, status, timedOut, seconds, result });
}

async function main(planFile) {
  const { phases } = JSON.parse(fs.readFileSync(planFile, 'utf8'));
  const port = openPort();
  const capEff = /^CapEff:\s*(\S+)/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1];
  send(port, { event: 'booted', release: os.release(), capEff, uptime: os.uptime() });
  for (const phase of phases) await runPhase(port, phase);
  send(port, { event: 'done' });
  // Powering off drops what the port still holds, and fsync is not for ports: wait for a byte from the host.
  fs.readSync(port, Buffer.alloc(1), 0, 1, null);
}

main(process.argv[2]).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
