import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { sql } from 'kysely';
import type { AuditKey } from '../audit/heads.ts';
import { sync } from '../backup/backup.ts';
import { pagesOf, type Row, type Table } from '../store/move.ts';
import { allRows, firstRow } from '../store/rows.ts';
import type { Db } from '../store/schema.ts';
import { VERSION } from '../version.ts';
import { type Header, KIND, type Manifest, Parts } from './format.ts';
import { EXPORTED, toExported } from './tables.ts';

export interface ExportOptions {
  /** Of one moment. */
  db: Db;
  /** Id or short name of the organization. */
  organization: string;
  /** Must not exist. */
  file: string;
  key: AuditKey;
  now: () => number;
}

/**
 * Writes an organization into a file, a page of rows at a time. Under its name there is a whole file or nothing.
 * @returns how many rows each table has
 * @throws if there is no such organization, or the file exists
 */
export async function exportOrganization(options: ExportOptions): Promise<Map<string, number>> {
  const { db, organization, file } = options;
  if (existsSync(file)) throw new Error(`${file} exists already. Name another file`);
  const found = await firstRow(
    db,
    sql<{ organization_id: string }>`
      select organization_id from organizations
      where status = 'active' and (organization_id = ${organization} or slug = ${organization})`,
  );
  if (!found) throw new Error(`There is no organization ${organization}. Name its id or its short name`);
  const part = `${file}.part`;
  const rows = new Map<string, number>();
  try {
    const lines = Readable.from(linesOf(options, found.organization_id, rows), { objectMode: false });
    await pipeline(lines, createZstdCompress(), createWriteStream(part, { mode: 0o600, flush: true }));
    await rename(part, file);
    await sync(dirname(file));
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return rows;
}

async function* linesOf({ db, key, now }: ExportOptions, organizationId: string, rows: Map<string, number>) {
  const changes = await allRows(db, sql<{ name: string }>`select name from schema_changes order by name`);
  const header: Header = {
    kind: KIND,
    at: new Date(now()).toISOString(),
    version: VERSION,
    schema: changes.map(({ name }) => name),
    organizationId,
  };
  yield `${JSON.stringify(header)}\n`;
  const parts = new Parts();
  for (const table of Object.keys(EXPORTED) as Table[]) {
    for await (const row of rowsOf(db, table, organizationId)) {
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

async function* rowsOf(db: Db, table: Table, organizationId: string): AsyncGenerator<Row> {
  if (table !== 'appends') {
    for await (const page of pagesOf(db, table, EXPORTED[table]?.(organizationId))) yield* page;
    return;
  }
  // A session at a time, along the key of the appends, which begins with it.
  for await (const sessions of pagesOf(db, 'sessions', EXPORTED.sessions?.(organizationId))) {
    for (const { session_id: sessionId } of sessions) {
      const ofSession = sql`session_id = ${sessionId} and organization_id = ${organizationId}`;
      for await (const page of pagesOf(db, 'appends', ofSession)) yield* page;
    }
  }
}
