import { setTimeout } from 'node:timers/promises';
import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import pg from 'pg';
import { Queue } from '../work.ts';
import type { Db } from './schema.ts';

/** Counters and times stay below 2^53, so a bigint may come back as a number. */
const BIGINT_OID = 20;
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format as 'text');

/** Longer than the server's own `statement_timeout`, which ends a statement with a reason and keeps its connection. */
const SILENT_MS = 20_000;
const CONNECTION_MS = 2_000;

/** How many milliseconds a request waits for PostgreSQL. Absent values: the service's own limits. */
export interface Patience {
  /** For the answer to a statement, before its connection is closed; 0: no limit. */
  silentMs?: number;
  /** For a connection, while all are busy. */
  connectionMs?: number;
  /** For rows that another transaction has locked. */
  lockMs?: number;
  /** For a change of a session, together with the changes before it. */
  changeMs?: number;
}

export interface PoolOptions {
  patience?: Patience | undefined;
  /** Absent: the settings for requests. */
  settings?: Settings;
}

/**
 * Opens a pool of connections. Each connection is checked before its first use, because its commits must be durable.
 * @param onError called for errors of idle connections
 */
export function openPostgres(
  url: string,
  onError: (error: Error) => void,
  {
    patience: { silentMs = SILENT_MS, connectionMs = CONNECTION_MS, lockMs } = {},
    settings = SETTINGS,
  }: PoolOptions = {},
): pg.Pool {
  const wanted = lockMs === undefined ? settings : { ...settings, lock_timeout: `${lockMs}ms` };
  const pool = new pg.Pool({
    connectionString: url,
    max: 20,
    connectionTimeoutMillis: connectionMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // Without it, a statement would wait for a vanished machine until TCP gives up, after 15 minutes.
    query_timeout: silentMs,
    // Without it, the next request on a connection that timed out would get the old answer.
    pipeline: true,
    types: { getTypeParser },
    onConnect: (client) => prepareConnection(client, wanted),
  });
  pool.on('error', onError);
  // A backend that ends while its client is checked out emits on the client, not on the pool.
  pool.on('connect', (client) => client.on('error', onError));
  return pool;
}

/** A view of the pool that uses at most `most` of its connections. Its owner ends the pool itself. */
export function limitedPool(pool: PostgresPool, most: number): PostgresPool {
  const queue = new Queue({ atOnce: most });
  const connect = () =>
    new Promise<PostgresPoolClient>((resolve, reject) => {
      const use = () =>
        new Promise<void>((released) => {
          const hand = (client: PostgresPoolClient) =>
            resolve({
              query: (client.query as (...given: unknown[]) => unknown).bind(client),
              release(isDiscarded) {
                client.release(isDiscarded);
                released();
              },
            } as PostgresPoolClient);
          const fail = (error: unknown) => {
            reject(error);
            released();
          };
          pool.connect().then(hand, fail);
        });
      void queue.run(use);
    });
  return { connect, end: async () => undefined, options: pool.options };
}

/** Runs queries on a connection that its owner took from the pool, for example within the owner's transaction. */
export const dbOn = (client: pg.PoolClient): Db => {
  const shared = { query: client.query.bind(client), release: () => undefined } as unknown as PostgresPoolClient;
  const pool = { connect: async () => shared, end: async () => undefined, options: {} };
  return new Kysely({ dialect: postgresDialect(pool) });
};

/** Idle time after which TCP checks whether the peer is alive. */
export const KEEP_ALIVE_MS = 10_000;

/** Timeouts, and when a commit is confirmed. */
const SETTINGS = {
  statement_timeout: '15s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '10s',
  synchronous_commit: 'on',
} as const;
type Setting = keyof typeof SETTINGS;
type Settings = Readonly<Record<Setting, string>>;

/** For schema changes, which may wait for other replicas and take long on large tables. */
export const SCHEMA_SETTINGS: Settings = {
  ...SETTINGS,
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/** Settings of the server that no connection can change. */
const SERVER_SETTINGS = ['fsync', 'full_page_writes'] as const;

/**
 * Sets the settings of the connection, in one query after the start, because PgBouncer refuses startup parameters. A process
 * id that differs from the backend's reveals a pooler. Behind one nothing is set, because the next user of the backend would
 * inherit it; the role must have the settings instead.
 * @throws StoreUnsuitable
 */
async function prepareConnection(client: pg.ClientBase, settings: Settings): Promise<void> {
  const { processID } = client as pg.ClientBase & { processID: number };
  const set = (Object.keys(settings) as Setting[]).map((name) => {
    const wanted = name === 'synchronous_commit' ? stricterCommit : `'${settings[name]}'`;
    return `case when pg_backend_pid() = $1 then set_config('${name}', ${wanted}, false) else current_setting('${name}') end as ${name}`;
  });
  const fixed = SERVER_SETTINGS.map((name) => `current_setting('${name}') as ${name}`);
  const columns = [...set, ...fixed, 'current_user as role', 'pg_backend_pid() as pid'];
  const { rows } = await client.query(`select ${columns.join(', ')}`, [processID]);
  const state = rows[0] as State & { pid: number };
  assertSuitable(state, settings);
  if (state.pid !== processID) forgetNames(client);
}

type State = Record<Setting | (typeof SERVER_SETTINGS)[number] | 'role', string>;

/** PgBouncer before 1.21 may prepare a named statement on one backend and execute it on another. */
function forgetNames(client: pg.ClientBase): void {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  const withoutName = (asked: unknown, ...rest: unknown[]) =>
    query(
      typeof asked === 'object' && asked !== null && 'name' in asked ? { ...asked, name: undefined } : asked,
      ...rest,
    );
  client.query = withoutName as typeof client.query;
}

/** Stricter settings, such as `remote_apply`, stay. */
const stricterCommit = `case when current_setting('synchronous_commit') in ('off', 'local') then '${SETTINGS.synchronous_commit}' else current_setting('synchronous_commit') end`;

/** A PostgreSQL without the durability or timeouts that the service needs. The message contains the required settings. */
export class StoreUnsuitable extends Error {
  override name = 'StoreUnsuitable';
}

/** @throws StoreUnsuitable */
export function assertSuitable(state: State, settings: Settings = SETTINGS): void {
  const off = SERVER_SETTINGS.filter((name) => state[name] !== 'on');
  if (off.length > 0) {
    const lines = off.map((name) => `${name} = on`).join(' and ');
    throw new StoreUnsuitable(
      `PostgreSQL may lose acknowledged data when its machine stops. Set ${lines} in postgresql.conf and restart it.`,
    );
  }
  const missing = (Object.keys(SETTINGS) as Setting[]).filter(
    (name) => UNBOUNDED.has(state[name]) && !UNBOUNDED.has(settings[name]),
  );
  if (missing.length === 0) return;
  const role = `"${state.role.replaceAll('"', '""')}"`;
  const commands = missing.map((name) => `ALTER ROLE ${role} SET ${name} = '${SETTINGS[name]}';`).join(' ');
  throw new StoreUnsuitable(
    `Behind a connection pooler the role must have the settings that the service needs. Run, then let the pooler reconnect: ${commands}`,
  );
}

const UNBOUNDED = new Set(['0', 'off', 'local']);

export const postgresDialect = (pool: pg.Pool | PostgresPool) => new PostgresDialect({ pool });

export const isPostgres = <Schema>(db: Kysely<Schema>): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

/** An arbitrary number that all versions share. */
const SCHEMA_LOCK = '3853314791062309107';
/** Replicas that start together ask in step, and each round lets one of them pass. */
const ASK_AGAIN_MS = 50;

/**
 * Prevents schema changes by other replicas until the returned function is called. The lock belongs to a transaction,
 * because a pooler would keep the lock of a connection. The lock is polled, because `create index concurrently` waits for all
 * running statements, and would never end while one of them waits for this lock.
 * @throws also if the connection is lost, now or at the release
 */
export async function holdSchema<Schema>(db: Kysely<Schema>): Promise<() => Promise<void>> {
  for (;;) {
    const transaction = await db.startTransaction().execute();
    // Only a rollback returns a lost connection to the pool, and the pool waits for it before it closes.
    const giveUp = async (error: unknown): Promise<never> => {
      await transaction
        .rollback()
        .execute()
        .catch(() => undefined);
      throw error;
    };
    if (await takeLock(transaction).catch(giveUp)) return () => transaction.commit().execute().catch(giveUp);
    await transaction.rollback().execute();
    await setTimeout(ASK_AGAIN_MS);
  }
}

async function takeLock<Schema>(transaction: Kysely<Schema>): Promise<boolean> {
  await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`.execute(transaction);
  // Without a parameter, because a portal of the extended protocol keeps its snapshot, and building an index waits for that, too.
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${sql.raw(SCHEMA_LOCK)}) as locked`.execute(transaction);
  return rows[0]?.locked === true;
}

/** Limits how long appends wait behind the locks of a schema change; the change itself may take long. */
export async function setBoundsOfChange<Schema>(transaction: Kysely<Schema>): Promise<void> {
  await sql`
    select set_config('statement_timeout', '0', true), set_config('lock_timeout', '500ms', true),
      set_config('idle_in_transaction_session_timeout', '0', true)`.execute(transaction);
}

/** Whether the error is a lock time-out. */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: unknown }).code === '55P03';

/** Whether the index is valid; undefined if there is none. */
export async function isValidIndex<Schema>(db: Kysely<Schema>, name: string): Promise<boolean | undefined> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`.execute(db);
  return rows[0]?.valid;
}
