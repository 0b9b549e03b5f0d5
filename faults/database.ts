import pg from 'pg';
import { createDatabase } from '../bench/postgres.ts';
import { type PostgresServer, startServer } from '../test/postgres.ts';
import { createDisk, type Disk } from './disk.ts';
import { diskFaults } from './install.ts';
import type { Fault } from './rounds.ts';

const DISK_MB = 4_000;
/** Enough connections for the services, and few enough that a fault can soon use them up. */
const SETTINGS = ['max_connections=90', 'max_wal_size=128MB', 'shared_buffers=32MB'];

const COUNT_ROWS = `
SELECT (SELECT count(*) FROM sessions WHERE session_id = $1) + (SELECT count(*) FROM appends WHERE session_id = $1) AS count`;

export interface FaultyDatabase {
  url: string;
  port: number;
  faults: Record<string, Fault>;
  /** Counts the stored rows of a session, including its events. */
  countRows(session: string): Promise<number>;
  /** Sets the times of these sessions back, as if they had been idle for ten days. */
  age(sessions: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export const AGE_BY_TEN_DAYS = `
UPDATE sessions SET created_at = created_at - 864000000, updated_at = updated_at - 864000000 WHERE session_id = $1`;

/** Uses a connection of its own, which faults of other connections do not affect. */
async function query(url: string, text: string, values: unknown[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return await client.query(text, values);
  } finally {
    await client.end();
  }
}

/** PostgreSQL with an empty database, on a disk of its own if possible, and its faults. */
export async function startDatabase(): Promise<FaultyDatabase> {
  const disk = createDisk(DISK_MB);
  const server = await startServer({
    settings: SETTINGS,
    ...(disk && { home: disk.path, variables: disk.variables }),
  });
  const url = await createDatabase(server.url);
  const start = () => untilStarted(server);
  return {
    url,
    port: Number(new URL(url).port),
    faults: {
      'PostgreSQL killed': { break: server.kill, mend: start },
      ...backendFaults(server.url, new URL(url).pathname.slice(1)),
      ...diskFaults(disk, start, server.kill, 'of PostgreSQL'),
      ...(disk && { 'sync of PostgreSQL failed': failSyncs(disk, server, start) }),
    },
    async countRows(session) {
      const { rows } = await query(url, COUNT_ROWS, [session]);
      return Number(rows[0].count);
    },
    async age(sessions) {
      for (const session of sessions) await query(url, AGE_BY_TEN_DAYS, [session]);
    },
    async stop() {
      await server.stop();
      await disk?.dispose();
    },
  };
}

/** PostgreSQL ends itself when a sync fails, and again during each recovery. */
const failSyncs = (disk: Disk, server: PostgresServer, start: () => Promise<void>): Fault => ({
  break: () => disk.order('fail'),
  async mend() {
    disk.order('sync');
    await server.kill();
    await start();
  },
});

/** Retries the start, since the processes of a killed server may hold its shared memory for a moment. */
async function untilStarted(server: PostgresServer, tries = 100): Promise<void> {
  try {
    await server.start();
  } catch (error) {
    if (tries === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
    await untilStarted(server, tries - 1);
  }
}

function backendFaults(serverUrl: string, database: string): Record<string, Fault> {
  const holders: pg.Client[] = [];
  const connect = async (name = 'postgres') => {
    const client = new pg.Client({ connectionString: `${serverUrl}/${name}`, application_name: 'faults' });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const letGo = async () => {
    await Promise.all(holders.splice(0).map((client) => client.end().catch(() => undefined)));
  };
  const kill = (client: pg.Client, condition: string) =>
    client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = $1 AND application_name <> 'faults' AND ${condition}`,
      [database],
    );
  return {
    'backends killed in transactions': {
      async break() {
        const client = await connect();
        for (let found = 0; found < 5; ) {
          const { rowCount } = await kill(client, `(state = 'active' OR xact_start IS NOT NULL)`);
          found += rowCount ?? 0;
        }
        await client.end();
      },
      mend: () => undefined,
    },
    'connection pool exhausted': {
      async break() {
        const client = await connect(database);
        holders.push(client);
        await client.query('BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
      },
      mend: letGo,
    },
    'no connection left': {
      async break() {
        const client = await connect();
        holders.push(client);
        for (;;) {
          const one = await connect(database).catch(() => undefined);
          if (!one) break;
          holders.push(one);
        }
        await kill(client, 'true');
      },
      mend: letGo,
    },
  };
}
