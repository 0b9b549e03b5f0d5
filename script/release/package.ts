import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_FLOOR } from '../../contract/download.ts';
import { bundleProgram, ROOT, readManifest } from './bundle.ts';
import { collectLicences } from './licences.ts';

/**
 * Makes the folder that is published to npm: the bundle, its licences and README. The package has no dependencies, so
 * installing it downloads one file.
 */
export async function makePackage(folder: string): Promise<void> {
  const { code, modules } = await bundleProgram();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), undefined, 2)}\n`);
  writeFileSync(join(folder, 'capture.js'), code);
  chmodSync(join(folder, 'capture.js'), 0o755);
  writeFileSync(join(folder, 'LICENSES-OF-LIBRARIES.txt'), collectLicences(modules));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(join(ROOT, 'cli/README.md'), join(folder, 'README.md'));
}

function manifest(): object {
  const { name, version, license } = readManifest(join(ROOT, 'cli'));
  return {
    name,
    version,
    description: 'Records what coding agents did on this machine, and sends it to your Session Capture service',
    keywords: ['coding agent', 'session', 'transcript', 'claude code', 'codex'],
    license,
    type: 'commonjs',
    bin: { capture: 'capture.js' },
    files: ['capture.js', 'LICENSES-OF-LIBRARIES.txt'],
    engines: { node: `>=${NODE_FLOOR}` },
  };
}
