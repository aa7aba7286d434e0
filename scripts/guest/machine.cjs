// One QEMU machine: its command line, its life, and the units of work it is handed.
'use strict';

const fs = require('node:fs');

/**
 * An x86-64 without what is slow to emulate. `rep movsb` and `rep stosb` are carried out byte by byte and AVX by helper
 * functions, so the C library must not prefer them; five-level page tables make each TLB miss longer; SMAP ends a
 * translation block at each copy to or from user space. Seen: a fifth to a quarter less CPU time in all.
 */
const EMULATED_CPU = 'max,-erms,-avx,-avx2,-la57,-smap,-smep,-umip,-pku';

const KERNEL_PARAMETERS = [
  'console=ttyS0',
  'loglevel=4',
  // With -no-reboot a panic ends QEMU, instead of leaving it to the time limit.
  'panic=-1',
  // Emulation makes the kernel distrust the TSC, and then each look at the clock is a system call and a device access.
  'tsc=reliable',
  'clocksource=tsc',
  // Of REP_GOOD as of ERMS above: filling 200 MiB of a tmpfs takes 1.9 s without, 4.5 s with them.
  'clearcpuid=rep_good',
  // Protection against attackers, who are not expected here.
  'mitigations=off',
  'init_on_alloc=0',
  'apparmor=0',
  'audit=0',
];

/** Taken from the host page by page as it is used. */
const MEMORY_MIB = 3072;

/** Seen: 13 s alone on two cores, 33 s beside many busy neighbours. */
const BOOT_MS = 150_000;

/** The agent enforces a unit's time limit; a guest that has not even said so after this long hangs. */
const GRACE_MS = 30_000;

const CONSOLE_LINES = 30;

function qemuArguments({ accelerator, kernel, initramfs, rootDisk, project, consoleLog }) {
  // An I/O thread of their own: the main thread holds the lock that every emulated device needs.
  const disk = (id, file, options) => [
    ...['-drive', `id=${id},file=${file},format=raw,if=none,cache=unsafe,${options}`],
    ...['-device', `virtio-blk-pci,drive=${id},iothread=disks`],
  ];
  const emulated = accelerator === 'tcg';
  return [
    ...['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none', '-nic', 'none'],
    ...['-accel', emulated ? 'tcg,thread=multi' : accelerator, '-cpu', emulated ? EMULATED_CPU : 'max'],
    ...['-smp', '2', '-m', String(MEMORY_MIB), '-object', 'iothread,id=disks'],
    ...['-kernel', kernel.image, '-initrd', initramfs, '-append', KERNEL_PARAMETERS.join(' ')],
    ...disk('root', rootDisk, 'snapshot=on'),
    ...disk('project', project, 'readonly=on'),
    ...['-device', 'virtio-serial-pci', '-chardev', 'stdio,id=host,signal=off'],
    ...['-device', 'virtserialport,chardev=host,name=fake-csi.host'],
    ...['-serial', `file:${consoleLog}`],
  ];
}

/** Calls `onEvent` with every line, parsed. */
function readEvents(stream, onEvent) {
  let rest = '';
  stream.setEncoding('utf8').on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    for (const line of lines) onEvent(JSON.parse(line));
  });
}

/** The end of the guest's console. */
function consoleTail(file) {
  if (!fs.existsSync(file)) return '(nothing)';
  const lines = fs.readFileSync(file, 'utf8').split(/\r?\n/).filter(Boolean);
  return lines.slice(-CONSOLE_LINES).join('\n') || '(nothing)';
}

/**
 * Boots a guest, hands it units until there is none, and returns when it has powered itself off.
 * @param {object} options what qemuArguments takes, and `scratch`, the folder for the disk's overlay.
 * @param {{ take: () => object | undefined, booted: (event: object) => void, output: (unit: object, data: string) => void,
 *   ended: (unit: object, event: object) => void }} work `take` gives the next unit; the others are told.
 * @throws with the end of its console when it does not boot, hangs, or ends before it should.
 */
async function runMachine(children, options, work) {
  // setpriv: the kernel ends QEMU with us, even when we are killed and can stop nobody.
  const words = ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...qemuArguments(options)];
  const qemu = children.start('setpriv', words, {
    // QEMU takes the end of its stdin for the end of the port's other side.
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: options.scratch },
  });
  let problem = null;
  let timer;
  const expectWithin = (ms, sentence) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      problem ??= `${sentence} within ${ms / 1000} s`;
      void children.stop(qemu, 5_000);
    }, ms);
  };

  let current;
  let finished = false;
  const handOut = () => {
    current = work.take();
    finished = current === undefined;
    if (finished) expectWithin(GRACE_MS, 'the guest did not power off');
    else expectWithin(current.timeoutMs + GRACE_MS, `the guest did not end ${current.unit}`);
    qemu.stdin.write(`${JSON.stringify(current ?? { end: true })}\n`);
  };
  expectWithin(BOOT_MS, 'the guest did not boot');
  readEvents(qemu.stdout, (event) => {
    if (event.event === 'output') {
      work.output(current, event.data);
      return;
    }
    if (event.event === 'booted') work.booted(event);
    else work.ended(current, event);
    handOut();
  });
  let complaints = '';
  qemu.stderr.setEncoding('utf8').on('data', (data) => {
    complaints += data;
  });
  // What is written to a machine that has died is lost, and its end is reported below.
  qemu.stdin.on('error', () => {});
  const how = await new Promise((resolve) => {
    qemu.once('error', (error) => resolve(error.message));
    qemu.once('close', (code, signal) => resolve(signal ?? `status ${code}`));
  });
  clearTimeout(timer);
  if (!finished) problem ??= `the guest ended by itself (QEMU: ${how})`;
  if (problem === null) return;
  const tail = consoleTail(options.consoleLog);
  throw new Error(`${problem}\n${complaints}--- the guest's console ends:\n${tail}\n---`);
}

module.exports = { MEMORY_MIB, runMachine };
