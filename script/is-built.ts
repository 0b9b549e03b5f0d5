import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './release/bundle.ts';

const FUNCTION = join(ROOT, 'script/is-built.sh');

/** Whether a file is newer than its sources; `is-built.sh` says which. The paths are relative to the root. */
export const isBuilt = (file: string, sources: readonly string[], root = ROOT): boolean =>
  spawnSync('bash', ['-c', 'source "$0"; is_built "$@"', FUNCTION, file, ...sources], { cwd: root }).status === 0;
