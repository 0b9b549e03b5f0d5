import { setTimeout } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Engine } from './dialect.ts';
import { statementsOfSchema } from './migrations/0001-schema.ts';
import { holdSchema, isLockTimeout, isValidIndex, setBoundsOfChange } from './postgres.ts';
import { grantTenant } from './tenant.ts';

/** A step from one schema to the next. A released change is never edited, renamed or reordered. */
export type SchemaChange = {
  name: string;
  /** The previous version works with the changed schema: only nullable columns, tables and indexes were added. */
  isAdditive: boolean;
} & (
  | {
      /** Run in one transaction. PostgreSQL holds the locks until its end, so a slow statement needs its own change. */
      statements: readonly string[];
    }
  | {
      /** An index, built on PostgreSQL while the table is read and written. `on` begins with the table. */
      index: string;
      on: string;
      isUnique?: boolean;
    }
);

export const changesOf = (engine: Engine): readonly SchemaChange[] => [
  { name: '0001-schema', isAdditive: true, statements: statementsOfSchema(engine) },
];

/** The statements of all changes that define tables. */
export const schemaStatements = (engine: Engine): string[] =>
  changesOf(engine).flatMap((change) => ('statements' in change ? change.statements : []));

/**
 * Brings the schema up to date, one change after the other, each in its own transaction. Replicas that start at the same time
 * wait for each other. A store with changes of a newer version is accepted if they are additive.
 * @param pauseMs milliseconds between two attempts to lock the tables of a change
 * @throws if the store is too new or too old for this program, or a change fails
 */
export async function migrate<Schema>(
  db: Kysely<Schema>,
  engine: Engine,
  changes: readonly SchemaChange[] = changesOf(engine),
  pauseMs = PAUSE_MS,
): Promise<void> {
  const release = engine === 'postgres' ? await holdSchema(db) : undefined;
  try {
    const made = await readMade(db, engine);
    const known = new Set(changes.map(({ name }) => name));
    if (made.some(({ name, additive }) => !known.has(name) && additive === 0)) throw new Error(TOO_NEW);
    const missing = changes.filter(({ name }) => !made.some((one) => one.name === name));
    for (const change of missing) await make(db, engine, change, pauseMs);
    if (engine === 'postgres') await db.transaction().execute(grantTenant);
  } finally {
    await release?.();
  }
}

const TOO_NEW = 'the store was written by a newer version of the service; start that version or a later one';
const TOO_OLD =
  'the store was written before the first release and cannot be upgraded; start with an empty DATA_DIR or DATABASE_URL, and send the sessions again with `capture import` on each machine';

/** The table of schema changes in versions before the first release. */
const BEFORE_RELEASE = 'kysely_migration';

interface Made {
  name: string;
  additive: 0 | 1;
}

async function readMade<Schema>(db: Kysely<Schema>, engine: Engine): Promise<Made[]> {
  if (await hasTable(db, engine, BEFORE_RELEASE)) throw new Error(TOO_OLD);
  if (await hasTable(db, engine, 'schema_changes')) {
    return (await sql<Made>`select name, additive from schema_changes`.execute(db)).rows;
  }
  await sql`
    create table schema_changes (name text primary key, additive integer not null, made_at bigint not null)`.execute(
    db,
  );
  return [];
}

async function hasTable<Schema>(db: Kysely<Schema>, engine: Engine, name: string): Promise<boolean> {
  const find =
    engine === 'postgres'
      ? sql`select 1 where to_regclass(${name}) is not null`
      : sql`select 1 from sqlite_master where name = ${name}`;
  return (await find.execute(db)).rows.length > 0;
}

const note = <Schema>(db: Kysely<Schema>, { name, isAdditive }: SchemaChange) =>
  sql`insert into schema_changes (name, additive, made_at) values (${name}, ${Number(isAdditive)}, ${Date.now()})`.execute(
    db,
  );

async function make<Schema>(db: Kysely<Schema>, engine: Engine, change: SchemaChange, pauseMs: number): Promise<void> {
  try {
    if ('index' in change && engine === 'postgres') await buildIndex(db, change);
    else await retryLocked(() => runChange(db, engine, change), pauseMs);
  } catch (cause) {
    throw new Error(`the schema change ${change.name} failed; nothing of it was kept`, { cause });
  }
}

const runChange = <Schema>(db: Kysely<Schema>, engine: Engine, change: SchemaChange) =>
  db.transaction().execute(async (transaction) => {
    if (engine === 'postgres') await setBoundsOfChange(transaction);
    const statements = 'index' in change ? [createIndex(change)] : change.statements;
    for (const statement of statements) await sql.raw(statement).execute(transaction);
    await note(transaction, change);
  });

type IndexChange = Extract<SchemaChange, { index: string }>;

const createIndex = ({ index, on, isUnique = false }: IndexChange, how = '') =>
  `create ${isUnique ? 'unique ' : ''}index ${how} if not exists ${index} on ${on}`;

/** Drops the invalid index of an interrupted attempt first, because it slows writes and serves no query. */
async function buildIndex<Schema>(db: Kysely<Schema>, change: IndexChange): Promise<void> {
  if ((await isValidIndex(db, change.index)) === false) {
    await sql`drop index concurrently ${sql.ref(change.index)}`.execute(db);
  }
  await sql.raw(createIndex(change, 'concurrently')).execute(db);
  await note(db, change);
}

/** Pause between attempts to lock the tables of a change. Other statements run meanwhile. */
const PAUSE_MS = 1_000;
const MAX_ATTEMPTS = 300;

/** Retries a change that could not lock its tables. A longer wait for the lock would block all later statements, too. */
async function retryLocked(work: () => Promise<void>, pauseMs: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isLockTimeout(error) || attempt === MAX_ATTEMPTS) throw error;
      await setTimeout(pauseMs);
    }
  }
}
