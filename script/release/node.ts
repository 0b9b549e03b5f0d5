import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './bundle.ts';
import { isHost, type Target } from './targets.ts';

/** Marks a Node that can hold a program. Builds of some distributions lack it. */
export const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * Path of a target's Node in the running version, since each version can prepare a program only for itself. Downloads are kept
 * in `folder`.
 * @throws an error with a message for people if there is no suitable Node
 */
export function findNode(target: Target, folder: string): string {
  const node = isHost(target) ? process.execPath : fetchNode(target, folder);
  if (!readFileSync(node).includes(FUSE)) {
    throw new Error(`${node} cannot hold a program: use the Node.js of nodejs.org`);
  }
  return node;
}

/** The licence that must accompany every copy of Node. It is beside the program, except in the package for Windows. */
export function readNodeLicence(node: string): string {
  const beside = [node, process.execPath].map((path) => join(dirname(path), '..', 'LICENSE'));
  const path = beside.find((candidate) => existsSync(candidate));
  if (path === undefined) throw new Error(`the licence of ${node} is not at ${beside[0]}`);
  return readFileSync(path, 'utf8');
}

function fetchNode({ package: name, platform }: Target, folder: string): string {
  if (name === undefined)
    throw new Error('npm has no Node.js for this platform, so the executable can only be made on such a machine');
  const place = join(folder, name);
  const node = join(place, 'bin', platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(node)) {
    mkdirSync(place, { recursive: true });
    const tarball = join(folder, fetchPackage(name, folder));
    execFileSync('tar', ['-xzf', tarball, '-C', place, '--strip-components=1']);
    rmSync(tarball);
  }
  return node;
}

/** Downloads a package and checks it against the lock file, as an installation would. @returns the name of the tarball */
function fetchPackage(name: string, folder: string): string {
  const { version, integrity } = locked(name);
  if (version !== process.versions.node) {
    throw new Error(`the lock file has ${name} ${version}, and this is Node.js ${process.versions.node}`);
  }
  const tarball = npm(['pack', '--silent', `${name}@${version}`], folder).trim();
  const found = `sha512-${hash('sha512', readFileSync(join(folder, tarball)), 'base64')}`;
  if (found !== integrity) throw new Error(`${tarball} does not have the digest in the lock file`);
  return tarball;
}

export function npm(args: readonly string[], folder: string): string {
  try {
    return execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error(`npm ${args[0]} failed`, { cause: error });
  }
}

function locked(name: string) {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  const entry = lock.packages[`node_modules/${name}`];
  if (entry === undefined) throw new Error(`the lock file does not have ${name}`);
  return entry;
}
