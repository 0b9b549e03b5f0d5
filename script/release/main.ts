import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openapiText } from '../openapi.ts';
import { ROOT, readManifest } from './bundle.ts';
import { makeExecutable } from './executable.ts';
import { findNode, npm, readNodeLicence } from './node.ts';
import { makePackage } from './package.ts';
import { makeSbom } from './sbom.ts';
import { RELEASE, readReleaseKey, writeSums } from './sums.ts';
import { TARGETS, type Target } from './targets.ts';
import { tryExecutable } from './trial.ts';

/**
 * Makes the release files in `artefacts/release`, as far as this machine can: the npm package, an archive with an executable for
 * each platform, the list of components of these and of the service, the OpenAPI document, and the SHA-256 sums, signed if
 * `RELEASE_KEY` names a key. Fails if a file could not be made although this machine should be able to.
 */
const FETCHED = join(ROOT, 'artefacts/node');
const PACKAGE = join(ROOT, 'cli/dist');

// Read the key first, so that an unusable key fails at once.
const key = readReleaseKey();
const { version } = readManifest(join(ROOT, 'cli'));
rmSync(RELEASE, { recursive: true, force: true });
for (const folder of [RELEASE, FETCHED]) mkdirSync(folder, { recursive: true });

await makePackage(PACKAGE);
report(npm(['pack', '--silent', PACKAGE], RELEASE).trim(), 'tested by npm test');
for (const target of TARGETS) {
  try {
    const name = `capture-${version}-${target.id}`;
    const trial = makeArchive(target, name);
    report(`${name}.tar.gz`, trial);
  } catch (error) {
    console.log(`${target.id.padEnd(44)} not made: ${(error as Error).message}`);
    if (target.package !== undefined) process.exitCode = 1;
  }
}
const sbom = `session-capture-${version}.cdx.json`;
writeFileSync(join(RELEASE, sbom), `${JSON.stringify(makeSbom(), undefined, 1)}\n`);
report(sbom, 'tested by npm test');
const routes = `session-capture-${version}.openapi.json`;
writeFileSync(join(RELEASE, routes), openapiText());
report(routes, 'tested by npm run check');
writeSums(RELEASE, key);

/** @returns how the executable was tested */
function makeArchive(target: Target, name: string): string {
  const folder = join(RELEASE, name);
  const executable = join(folder, target.platform === 'win32' ? 'capture.exe' : 'capture');
  const node = findNode(target, FETCHED);
  mkdirSync(folder);
  makeExecutable({ target, node, bundle: join(PACKAGE, 'capture.js') }, executable);
  const trial = tryExecutable(target, executable, version);
  for (const file of ['LICENSE', 'LICENSES-OF-LIBRARIES.txt']) copyFileSync(join(PACKAGE, file), join(folder, file));
  writeFileSync(join(folder, 'LICENSE-OF-NODE.txt'), readNodeLicence(node));
  execFileSync('tar', ['-czf', `${name}.tar.gz`, name], { cwd: RELEASE });
  rmSync(folder, { recursive: true });
  return trial;
}

function report(file: string, trial: string): void {
  const megabytes = (statSync(join(RELEASE, file)).size / 1e6).toFixed(1);
  console.log(`${file.padEnd(44)} ${megabytes.padStart(6)} MB  ${trial}`);
}
