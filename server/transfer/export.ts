import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { sql } from 'kysely';
import type { AuditKey } from '../audit/heads.ts';
import { sync } from '../backup/backup.ts';
import { recordAction } from '../store/audit.ts';
import { type Happened, OPERATOR } from '../store/audit-chain.ts';
import { emailKey } from '../store/columns.ts';
import { type MovedRow, pagesOf } from '../store/move.ts';
import { allRows, firstRow } from '../store/rows.ts';
import type { Db } from '../store/schema.ts';
import type { MovedTable } from '../store/tables.ts';
import { VERSION } from '../version.ts';
import { type Header, KIND, type Manifest, Parts, PERSON_KIND } from './format.ts';
import { type Selection, selectOrganization, selectPerson, toExported, WITH_CONTENT } from './tables.ts';

export interface ExportOptions {
  /** A consistent snapshot of the store. */
  db: Db;
  /** Id or short name of the organization. */
  organization: string;
  /** Id or e-mail of the one person whose data is exported; absent: the whole organization. */
  person?: string | undefined;
  /** The file must not exist. */
  file: string;
  key: AuditKey;
  now: () => number;
}

/**
 * Writes an organization, or one person of it, into a file, one page of rows at a time. The file appears under its final name
 * only when it is complete.
 * @returns how many rows each table has
 * @throws if there is no such organization or person, or the file exists
 */
export async function exportRows(options: ExportOptions): Promise<Map<string, number>> {
  const { file } = options;
  assertFree(file);
  const selected = await select(options);
  const part = `${file}.part`;
  const rows = new Map<string, number>();
  try {
    const lines = Readable.from(linesOf(options, selected, rows), { objectMode: false });
    await pipeline(lines, createZstdCompress(), createWriteStream(part, { mode: 0o600, flush: true }));
    await rename(part, file);
    await sync(dirname(file));
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return rows;
}

/** @throws if the file exists */
export function assertFree(file: string): void {
  if (existsSync(file)) throw new Error(`${file} exists already. Name another file`);
}

/**
 * Records in the audit log of the organization that the operator exports it, or one person of it.
 * @throws if there is no such organization or person
 */
export async function recordExport(
  transaction: Db,
  asked: Pick<ExportOptions, 'organization' | 'person'>,
  now: number,
): Promise<void> {
  const { organizationId, userId } = (await select({ db: transaction, ...asked })).of;
  const happened: Happened = {
    actor: OPERATOR,
    action: 'organization.exported',
    target: userId === undefined ? { kind: 'organization', id: organizationId } : { kind: 'person', id: userId },
  };
  await recordAction(transaction, organizationId, happened, now);
}

interface Selected {
  of: Pick<Header, 'kind' | 'organizationId' | 'userId'>;
  tables: Selection;
}

async function select({
  db,
  organization,
  person,
}: Pick<ExportOptions, 'db' | 'organization' | 'person'>): Promise<Selected> {
  const found = await firstRow(
    db,
    sql<{ organization_id: string }>`
      select organization_id from organizations
      where status = 'active' and (organization_id = ${organization} or slug = ${organization})`,
  );
  if (!found) throw new Error(`There is no organization ${organization}. Name its id or its short name`);
  const { organization_id: organizationId } = found;
  if (person === undefined) return { of: { kind: KIND, organizationId }, tables: selectOrganization(organizationId) };
  const userId = await findPerson(db, organizationId, person);
  return { of: { kind: PERSON_KIND, organizationId, userId }, tables: selectPerson(organizationId, userId) };
}

/** Also finds a person who has left, by id, if some of their sessions or machines still exist. */
async function findPerson(db: Db, organizationId: string, person: string): Promise<string> {
  const found = await firstRow(
    db,
    sql<{ user_id: string }>`
      select user_id from members
      where organization_id = ${organizationId} and (user_id = ${person} or email_key = ${emailKey(person)})
      union all
      select user_id from sessions where organization_id = ${organizationId} and user_id = ${person}
      union all
      select user_id from environments where organization_id = ${organizationId} and user_id = ${person}
      limit 1`,
  );
  if (found) return found.user_id;
  throw new Error(`There is no person ${person} in this organization. Name their id, or a member's e-mail`);
}

async function* linesOf({ db, key, now }: ExportOptions, { of, tables }: Selected, rows: Map<string, number>) {
  const changes = await allRows(db, sql<{ name: string }>`select name from schema_changes order by name`);
  const header: Header = {
    ...of,
    at: new Date(now()).toISOString(),
    version: VERSION,
    schema: changes.map(({ name }) => name),
  };
  yield `${JSON.stringify(header)}\n`;
  const parts = new Parts();
  for (const table of Object.keys(tables) as MovedTable[]) {
    for await (const row of rowsOf(db, table, tables)) {
      const line = JSON.stringify({ part: table, row: toExported(table, row) });
      parts.add(table, line);
      yield `${line}\n`;
    }
  }
  const ended = parts.end();
  for (const { part, rows: count } of ended) rows.set(part, count);
  const manifest = { header, parts: ended, publicKey: key.publicKey };
  yield `${JSON.stringify({ manifest, signature: key.signatureOf(manifest) } satisfies Manifest)}\n`;
}

async function* rowsOf(db: Db, table: MovedTable, tables: Selection): AsyncGenerator<MovedRow> {
  if (table !== 'appends') {
    for await (const page of pagesOf(db, table, tables[table])) yield* page;
    return;
  }
  // Reads session by session, because the primary key of the appends begins with the session.
  for await (const sessions of pagesOf(db, 'sessions', sql`${tables.sessions} and ${WITH_CONTENT}`)) {
    for (const { session_id: sessionId, organization_id: organizationId } of sessions) {
      const ofSession = sql`session_id = ${sessionId} and organization_id = ${organizationId}`;
      for await (const page of pagesOf(db, 'appends', ofSession)) yield* page;
    }
  }
}
