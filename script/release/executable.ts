import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FUSE } from './node.ts';
import { isHost, type Target } from './targets.ts';

const POSTJECT = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));

export interface Ingredients {
  target: Target;
  /** Path of the target's Node, in the running version. */
  node: string;
  /** Path of the bundled program. */
  bundle: string;
}

/** Puts the program into a copy of Node, as a single executable application. */
export function makeExecutable({ target, node, bundle }: Ingredients, output: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'capture-executable-'));
  try {
    const blob = prepare(folder, bundle, isHost(target));
    copyFileSync(node, output);
    chmodSync(output, 0o755);
    if (target.platform === 'darwin') execFileSync('codesign', ['--remove-signature', output]);
    inject(output, blob, target);
    // An unsigned program does not start on a Mac. A developer's signature may replace this one.
    if (target.platform === 'darwin') execFileSync('codesign', ['--sign', '-', output]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function prepare(folder: string, bundle: string, isNative: boolean): string {
  const config = join(folder, 'config.json');
  const blob = join(folder, 'blob');
  const settings = {
    main: bundle,
    output: blob,
    disableExperimentalSEAWarning: true,
    // Compiled code works on one kind of processor only. It saves about 8 of the 55 ms of a start.
    useCodeCache: isNative,
  };
  writeFileSync(config, JSON.stringify(settings));
  execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' });
  return blob;
}

function inject(output: string, blob: string, { platform }: Target): void {
  const segment = platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
  execFileSync(process.execPath, [POSTJECT, output, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE, ...segment], {
    stdio: 'pipe',
  });
}
