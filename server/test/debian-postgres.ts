import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';

/*
 * PostgreSQL as Debian packages it. The server of the other tests comes without the backup programs, and Debian's programs refuse
 * a server that is newer than they are.
 */

/** The folder into which `script/setup.sh` unpacks Debian's PostgreSQL with its libraries. */
const UNPACKED = join(import.meta.dirname, '../../artefacts/postgresql/usr');

/** Folders of programs, the newest version first. */
const FOLDERS = ['/usr', UNPACKED].flatMap((root) =>
  globSync(join(root, 'lib/postgresql/*/bin')).sort((one, other) => Number(versionOf(other)) - Number(versionOf(one))),
);

function versionOf(folder: string): string {
  return folder.split(sep).at(-2) ?? '';
}

const librariesIn = (root: string) => globSync(join(root, 'lib/*-linux-gnu')).join(delimiter);
const env = { ...process.env, LD_LIBRARY_PATH: librariesIn(UNPACKED) };

/** The folder that has the program in a version that runs here. */
const find = (name: string, version?: string) =>
  FOLDERS.find(
    (folder) =>
      (version === undefined || versionOf(folder) === version) &&
      existsSync(join(folder, name)) &&
      spawnSync(join(folder, name), ['--version'], { env }).status === 0,
  );

const server = find('postgres');
const client = server && find('pg_dump', versionOf(server));

/** Undefined if this machine lacks a server, or the client programs of the server's version. */
export const DEBIAN_POSTGRES = server && client ? { server, client } : undefined;

/** The server's programs in a place that the server's own user can read. @param folder a folder that this user can read */
export function readableServer(
  binaries: string,
  folder: string,
): { programs: string; variables: Record<string, string> } {
  if (!binaries.startsWith(UNPACKED)) return { programs: dirname(binaries), variables: {} };
  // Leaves out the query compiler (LLVM), which is the largest part and not needed.
  for (const part of ['lib', 'share/postgresql'])
    cpSync(join(UNPACKED, part), join(folder, part), {
      recursive: true,
      filter: (path) => !/llvm|LLVM|bitcode/.test(path),
    });
  const variables = { LD_LIBRARY_PATH: librariesIn(folder) };
  return { programs: join(folder, 'lib/postgresql', versionOf(binaries)), variables };
}

/** Runs `pg_dump` or `pg_restore`. @throws with the program's output if it fails */
export const runClient = (binaries: string, name: string, words: readonly string[]) =>
  promisify(execFile)(join(binaries, name), [...words], { env });
