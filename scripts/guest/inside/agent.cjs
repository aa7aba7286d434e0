// Runs inside the guest: takes units of work from the host one after the other, over a virtio-serial port that carries
// one JSON object a line. The host sends
//   { unit, command, timeoutMs, resultFile }    a shell's command, run in the checkout
//   { end: true }                               there is no more
// and is sent
//   { event: 'booted', release, capEff, uptime }                 once, ready for the first unit; uptime in seconds
//   { event: 'output', data }                                    what the unit writes to stdout and stderr
//   { event: 'ended', unit, status, timedOut, seconds, result }  result: text of its result file, or null
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');

const PORT_NAME = 'fake-csi.host';
const PORTS = '/sys/class/virtio-ports';

/** How long a daemon that a unit left behind may hold the unit's pipes open after its end, in ms. */
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

/** The next line of the host's. It is all there is to wait for, so it may block the process. */
function receive(port) {
  const bytes = [];
  const byte = Buffer.alloc(1);
  for (;;) {
    if (fs.readSync(port, byte, 0, 1, null) === 0) throw new Error('the host closed the port');
    if (byte[0] === 0x0a) return JSON.parse(Buffer.from(bytes).toString('utf8'));
    bytes.push(byte[0]);
  }
}

/** Runs a unit in a process group of its own, so that its time limit takes its children down as well. */
async function runUnit(port, { unit, command, timeoutMs, resultFile }) {
  const began = process.hrtime.bigint();
  const child = spawn('/bin/sh', ['-c', command], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    process.kill(-child.pid, 'SIGKILL');
  }, timeoutMs);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (data) => send(port, { event: 'output', data }));
  }
  const closed = new Promise((resolve) => child.once('close', resolve));
  const status = await new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? 128 + os.constants.signals[signal])),
  );
  clearTimeout(timer);
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, DRAIN))]);
  const there = resultFile !== undefined && fs.existsSync(resultFile);
  const result = there ? fs.readFileSync(resultFile, 'utf8') : null;
  // A later unit that dies before it writes its own must not be judged by this one's.
  if (there) fs.rmSync(resultFile);
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  send(port, { event: 'ended', unit, status, timedOut, seconds, result });
}

async function main() {
  const port = openPort();
  const capEff = /^CapEff:\s*(\S+)/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1];
  send(port, { event: 'booted', release: os.release(), capEff, uptime: os.uptime() });
  for (let order = receive(port); !order.end; order = receive(port)) await runUnit(port, order);
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
