import { sql } from 'kysely';
import { assertSignedBy, idOfKey } from '../audit/signers.ts';
import { insertRows, type MovedRow } from '../store/move.ts';
import { allRows, oneRow } from '../store/rows.ts';
import type { Db } from '../store/schema.ts';
import { keyOf, MOVED, type MovedTable } from '../store/tables.ts';
import { assertBelonging } from './belonging.ts';
import { type ExportFile, type PartLine, readRows, verifyFile } from './format.ts';
import { EXPORTED, toExported, toStored } from './tables.ts';

/** How much is written or compared at once. */
const MAX_ROWS = 100;
const MAX_BYTES = 8 * 1024 * 1024;

export interface Imported {
  /** The id of the key that signed the file. */
  signer: string;
  /** A line for each difference between the file and the store. */
  findings: string[];
}

/**
 * Writes an exported organization into a store that has no other one. Existing rows stay, so an interrupted import can be
 * repeated.
 * @param key the id of the key that must have signed the file; absent: any key
 * @throws if the file is incomplete, has rows of others or another signer, or the store has another organization
 */
export async function importOrganization(db: Db, path: string, key?: string): Promise<Imported> {
  const file = await readExport(path, key);
  await assertFitting(db, file);
  for await (const { table, rows } of batchesOf(path)) {
    const stored = rows.map((row) => toStored(table, row));
    await insertRows(db, table, stored, true);
  }
  return { signer: idOfKey(file.publicKey), findings: await compare(db, path, file) };
}

/**
 * Compares an exported organization with the store, without writing.
 * @param key as for `importOrganization`
 * @throws if the file is incomplete, or has rows of others or another signer
 */
export async function checkImport(db: Db, path: string, key?: string): Promise<Imported> {
  const file = await readExport(path, key);
  return { signer: idOfKey(file.publicKey), findings: await compare(db, path, file) };
}

async function readExport(path: string, key: string | undefined): Promise<ExportFile> {
  const file = await verifyFile(path);
  assertSignedBy(path, file.publicKey, key);
  await assertBelonging(path, file.header);
  return file;
}

async function assertFitting(db: Db, { header }: ExportFile): Promise<void> {
  const known = new Set(
    (await allRows(db, sql<{ name: string }>`select name from schema_changes`)).map(({ name }) => name),
  );
  const unknown = header.schema.filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new Error(`The file is of version ${header.version}. Import it with that version or a later one`);
  const { others } = await oneRow(
    db,
    sql<{ others: number }>`
      select count(*) as others from organizations where organization_id <> ${header.organizationId}`,
  );
  if (Number(others) > 0) throw new Error('The service has another organization. Import into an empty service');
}

interface Batch {
  table: MovedTable;
  rows: MovedRow[];
}

/** Reads the rows of the file in order, in batches of one table each. */
async function* batchesOf(path: string): AsyncGenerator<Batch> {
  let batch: Batch | undefined;
  let bytes = 0;
  for await (const { part, row, length } of readRows(path)) {
    if (batch && (batch.table !== part || batch.rows.length >= MAX_ROWS || bytes + length > MAX_BYTES)) {
      yield batch;
      batch = undefined;
    }
    if (!batch) bytes = 0;
    batch ??= { table: tableOf(part), rows: [] };
    batch.rows.push(row);
    bytes += length;
  }
  if (batch) yield batch;
}

function tableOf(part: PartLine['part']): MovedTable {
  if (MOVED.includes(part) && EXPORTED[part]) return part;
  throw new Error(`The file has rows of ${part}, which this version does not import`);
}

/** How many differences are reported one by one. Further ones are only counted. */
const MAX_NAMED = 100;

async function compare(db: Db, path: string, { header, rowsOf }: ExportFile): Promise<string[]> {
  const findings: string[] = [];
  let count = 0;
  const report = (finding: string) => {
    count++;
    if (count <= MAX_NAMED) findings.push(finding);
  };
  const found = new Map<MovedTable, number>();
  for await (const { table, rows } of batchesOf(path)) {
    const stored = new Map((await readStored(db, table, rows)).map((row) => [nameOf(table, row), row]));
    found.set(table, (found.get(table) ?? 0) + stored.size);
    for (const row of rows) {
      const name = nameOf(table, row);
      const other = stored.get(name);
      if (!other) report(`${table} ${name} is only in the file`);
      else if (textOf(toExported(table, other)) !== textOf(row)) report(`${table} ${name} differs`);
    }
  }
  for (const [table, fitting] of Object.entries(EXPORTED) as [MovedTable, (id: string) => ReturnType<typeof sql>][]) {
    const { rows } = await oneRow(
      db,
      sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)} where ${fitting(header.organizationId)}`,
    );
    const more = Number(rows) - (found.get(table) ?? 0);
    if (more > 0) report(`${table} has ${more} rows that are not among the ${rowsOf.get(table) ?? 0} of the file`);
    if (more < 0) report(`${table} has ${-more} rows of the file that are not of this organization`);
  }
  return count <= MAX_NAMED ? findings : [...findings, `and ${count - MAX_NAMED} more differences`];
}

function readStored(db: Db, table: MovedTable, rows: readonly MovedRow[]): Promise<MovedRow[]> {
  const ofRow = (row: MovedRow) =>
    sql`(${sql.join(
      keyOf(table).map((column) => sql`${sql.ref(column)} = ${row[column]}`),
      sql` and `,
    )})`;
  return allRows(db, sql<MovedRow>`select * from ${sql.table(table)} where ${sql.join(rows.map(ofRow), sql` or `)}`);
}

const nameOf = (table: MovedTable, row: MovedRow) =>
  keyOf(table)
    .map((column) => String(row[column]))
    .join(' ');

/** Equal for rows with the same values, independent of the order of the columns. */
const textOf = (row: MovedRow) => JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)));
