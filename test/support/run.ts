import { execFileSync } from 'node:child_process';

/** Runs a program in the C locale; a failure shows what it printed. */
export function run(program: string, ...args: string[]): string {
  const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...process.env, PATH, LC_ALL: 'C' },
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')}: ${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}
