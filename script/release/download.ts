import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ROOT } from './bundle.ts';
import { npm, readNodeLicence } from './node.ts';
import { makePackage } from './package.ts';
import { TARGETS, type Target } from './targets.ts';

/**
 * Makes the files that machines download from the service, each under its path: the command line as a package, and Node for
 * each platform with an npm package installed here.
 */
export async function makeDownloads(folder: string): Promise<void> {
  const staging = mkdtempSync(join(tmpdir(), 'capture-download-'));
  try {
    mkdirSync(join(folder, 'install'), { recursive: true });
    await makePackage(join(staging, 'package'));
    const tarball = npm(['pack', '--silent', join(staging, 'package')], staging).trim();
    put(join(staging, tarball), join(folder, 'capture.tgz'));
    for (const target of TARGETS) packNode(target, folder, staging);
    writeSums(folder);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function packNode({ package: name, platform }: Target, folder: string, staging: string): void {
  const program = platform === 'win32' ? 'node.exe' : 'node';
  const node = join(ROOT, 'node_modules', String(name), 'bin', program);
  const archive = join(folder, 'install', `${name}.tgz`);
  if (name === undefined || !existsSync(node)) return;
  if (existsSync(archive) && statSync(archive).mtimeMs > statSync(node).mtimeMs) return;
  const cwd = join(staging, name);
  mkdirSync(cwd);
  copyFileSync(node, join(cwd, program));
  writeFileSync(join(cwd, 'LICENSE-OF-NODE.txt'), readNodeLicence(node));
  // The fastest compression takes a third of the time and makes the file a tenth larger.
  execFileSync('sh', ['-c', 'tar -cf - "$1" LICENSE-OF-NODE.txt | gzip -1 >../node.tgz', 'sh', program], { cwd });
  put(join(staging, 'node.tgz'), archive);
}

/** Replaces a file atomically, even from another disk: a download meanwhile gets either the old file or the new one. */
function put(file: string, place: string): void {
  copyFileSync(file, `${place}.new`);
  renameSync(`${place}.new`, place);
}

/** Writes the sums last, since their file marks a complete build. */
function writeSums(folder: string): void {
  const files = globSync(['capture.tgz', 'install/node-*.tgz'], { cwd: folder }).sort();
  const sum = (file: string) => `${hash('sha256', readFileSync(join(folder, file)))}  ${basename(file)}\n`;
  writeFileSync(join(folder, 'install/SHA256SUMS'), files.map(sum).join(''));
}
