import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { isHost, type Target } from './targets.ts';

/** Debian's `qemu-user`, `libc6-arm64-cross` and `libstdc++6-arm64-cross` run a program for the other processor. */
const EMULATED = { program: 'qemu-aarch64', libraries: '/usr/aarch64-linux-gnu' };

/** Runs an executable without access to Node, if this machine can. @returns how it ran, or why it did not */
export function tryExecutable(target: Target, executable: string, version: string): string {
  if (isHost(target))
    return check(spawnSync(executable, ['--version'], { env: {}, encoding: 'utf8' }), version, 'runs');
  if (target.id !== 'linux-arm64') return 'not run: another platform';
  const env = { PATH: '/usr/bin', QEMU_LD_PREFIX: EMULATED.libraries };
  const result = spawnSync(EMULATED.program, [executable, '--version'], { env, encoding: 'utf8' });
  return result.error ? 'not run: another processor' : check(result, version, `runs under ${EMULATED.program}`);
}

function check({ stdout, stderr, status }: SpawnSyncReturns<string>, version: string, outcome: string): string {
  if (status === 0 && stdout === `${version}\n`) return outcome;
  throw new Error(`it exited with ${status} and printed ${stdout}${stderr}`);
}
