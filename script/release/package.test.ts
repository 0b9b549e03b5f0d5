import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { makeFolder } from '../../cli/test/folder.ts';
import { ROOT, readManifest } from './bundle.ts';
import { makePackage } from './package.ts';
import { expectCapture, expectNewerNode, run } from './program.ts';

/** Made once; each test copies it to a separate folder outside the repository. */
const made = join(ROOT, 'artefacts/package-test');
const { version } = readManifest(join(ROOT, 'cli'));

beforeAll(async () => {
  await makePackage(made);
  return () => rmSync(made, { recursive: true, force: true });
});

test('the npm package has one program, installs without a network and runs with npx', async () => {
  const folder = makeFolder();
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder };
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
  const [packed] = JSON.parse(npm('pack', '--json', made)) as [{ filename: string; files: { path: string }[] }];
  expect(packed.files.map(({ path }) => path).sort()).toEqual([
    'LICENSE',
    'LICENSES-OF-LIBRARIES.txt',
    'README.md',
    'capture.js',
    'package.json',
  ]);
  npm('install', '--offline', join(folder, packed.filename));

  const answer = { status: 0, stdout: `${version}\n`, stderr: '' };
  expect(await run(['npx', '--offline', 'capture', '--version'], env)).toEqual(answer);
}, 60_000);

test('the bundle signs in and captures from a folder without other files', async () => {
  const folder = makeFolder();
  copyFileSync(join(made, 'capture.js'), join(folder, 'capture.js'));
  await expectCapture([process.execPath, join(folder, 'capture.js')]);
}, 60_000);

test('the bundle reports an outdated Node in one sentence', () => expectNewerNode(join(made, 'capture.js'), 'capture'));

test('the package includes the licences of bundled libraries', () => {
  const licences = readFileSync(join(made, 'LICENSES-OF-LIBRARIES.txt'), 'utf8');
  expect(licences).toMatch(/^@bomb\.sh\/tab [\d.]+ \(MIT\)\n\nCopyright \(c\) Bombshell Authors/);
  expect(licences).toMatch(/^commander [\d.]+ \(MIT\)\n\n\(The MIT License\)\n/m);
  expect(licences).toMatch(/^typebox [\d.]+ \(MIT\)\n/m);
});
