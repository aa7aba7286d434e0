// The QEMU machine: its command line, its end, and the events that come out of it.
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
    ...['-smp', '2', '-m', '4096', '-object', 'iothread,id=disks'],
    ...['-kernel', kernel.image, '-initrd', initramfs, '-append', KERNEL_PARAMETERS.join(' ')],
    ...disk('root', rootDisk, 'snapshot=on'),
    ...disk('project', project, 'readonly=on'),
    ...['-device', 'virtio-serial-pci', '-chardev', 'stdio,id=events,signal=off'],
    ...['-device', 'virtserialport,chardev=events,name=fake-csi.events'],
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
 * Boots the guest and returns when it has powered itself off.
 * @param {object} options what qemuArguments takes, and `scratch` (folder for the disk's overlay), `bootMs`, `totalMs`
 *   and `onEvent`, which is given each event of inside/agent.cjs.
 * @throws with the end of its console when it does not boot in `bootMs`, is not done in `totalMs`, or ends before.
 */
async function runMachine(children, options) {
  const { scratch, consoleLog, bootMs, totalMs, onEvent } = options;
  // setpriv: the kernel ends QEMU with us, even when we are killed and can stop nobody.
  const words = ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...qemuArguments(options)];
  const qemu = children.start('setpriv', words, {
    // QEMU takes the end of its stdin for the end of the port's other side: it gets a pipe that stays open.
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: scratch },
  });
  let problem = null;
  const giveUp = (sentence) => {
    problem ??= sentence;
    void children.stop(qemu, 5_000);
  };
  const bootTimer = setTimeout(() => giveUp(`the guest did not boot within ${bootMs / 1000} s`), bootMs);
  const timer = setTimeout(() => giveUp(`the guest was not done after ${totalMs / 1000} s`), totalMs);

  let done = false;
  readEvents(qemu.stdout, (event) => {
    if (event.event === 'booted') clearTimeout(bootTimer);
    if (event.event === 'done') {
      done = true;
      // The agent waits for it: see there.
      qemu.stdin.write('\n');
    }
    onEvent(event);
  });
  let complaints = '';
  qemu.stderr.setEncoding('utf8').on('data', (data) => {
    complaints += data;
  });
  qemu.stdin.on('error', () => {});
  const ended = await new Promise((resolve) => {
    qemu.once('error', (error) => resolve(error.message));
    qemu.once('close', (code, signal) => resolve(signal ?? `status ${code}`));
  });
  clearTimeout(bootTimer);
  clearTimeout(timer);
  if (!done) problem ??= `the guest ended before its phases did (QEMU: ${ended})`;
  if (problem === null) return;
  throw new Error(`${problem}\n${complaints}--- the guest's console ends:\n${consoleTail(consoleLog)}\n---`);
}

module.exports = { runMachine };
