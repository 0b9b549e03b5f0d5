import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../public-url.ts';

/** The folder into which `script/setup.sh` unpacks Debian's PgBouncer with its libraries. */
const UNPACKED = join(import.meta.dirname, '../../artefacts/pgbouncer/usr');

const env = { ...process.env, LD_LIBRARY_PATH: globSync(join(UNPACKED, 'lib/*-linux-gnu')).join(delimiter) };

/** Undefined if this machine has no PgBouncer that runs. */
export const PGBOUNCER = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', join(UNPACKED, 'sbin')]
  .map((folder) => join(folder, 'pgbouncer'))
  .find((path) => existsSync(path) && spawnSync(path, ['--version'], { env }).status === 0);

export interface PgBouncer {
  /** The database's address through PgBouncer. */
  url: string;
  /** Kills PgBouncer with all its connections, and starts it again. */
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

/** A pooler in transaction mode in front of a database. It opens fewer connections to the database than one service does. */
export async function startPgBouncer(program: string, databaseUrl: string): Promise<PgBouncer> {
  const { port: serverPort, username, pathname } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), 'capture-pgbouncer-'));
  // PgBouncer refuses to run as root; its files contain no secret.
  chmodSync(folder, 0o755);
  const isRoot = process.getuid?.() === 0;
  const port = await freePort('127.0.0.1');
  const [settings, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')];
  writeFileSync(users, `"${username}" ""\n`);
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`,
  );
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`;
  let running: ChildProcess;

  async function start(): Promise<void> {
    running = spawn(program, ['-q', ...(isRoot ? ['-u', 'nobody'] : []), settings], { stdio: 'ignore', env });
    while (!(await answers(url))) {
      if (running.exitCode !== null) throw new Error(`pgbouncer ended with ${running.exitCode} before it was ready`);
      await pause(20);
    }
  }

  async function kill(): Promise<void> {
    running.kill('SIGKILL');
    await once(running, 'exit');
  }

  const killAtExit = () => running.kill('SIGKILL');
  process.once('exit', killAtExit);
  await start();
  return {
    url,
    async restart() {
      await kill();
      await start();
    },
    async dispose() {
      process.removeListener('exit', killAtExit);
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
