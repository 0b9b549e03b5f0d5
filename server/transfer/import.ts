import { sql } from 'kysely';
import { insertRows, type MovedRow } from '../store/move.ts';
import { allRows, oneRow } from '../store/rows.ts';
import type { Db } from '../store/schema.ts';
import { keyOf, MOVED, type MovedTable } from '../store/tables.ts';
import { type ExportFile, type PartLine, readRows, verifyFile } from './format.ts';
import { EXPORTED, toExported, toStored } from './tables.ts';

/** How much is written or compared at once. */
const MOST_ROWS = 100;
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Writes an exported organization into a store that has no other one. Existing rows stay, so an interrupted import can be
 * repeated.
 * @returns a line for each difference between the file and the store afterwards
 * @throws if the file is incomplete, or the store has another organization
 */
export async function importOrganization(db: Db, path: string): Promise<string[]> {
  const file = await verifyFile(path);
  await assertFitting(db, file);
  for await (const { table, rows } of batchesOf(path)) {
    const stored = rows.map((row) => toStored(table, row));
    await insertRows(db, table, stored, true);
  }
  return compare(db, path, file);
}

/**
 * Compares an exported organization with the store, without writing.
 * @returns a line for each difference
 * @throws if the file is incomplete
 */
export async function checkImport(db: Db, path: string): Promise<string[]> {
  return compare(db, path, await verifyFile(path));
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
    if (batch && (batch.table !== part || batch.rows.length >= MOST_ROWS || bytes + length > MOST_BYTES)) {
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
const MOST_NAMED = 100;

async function compare(db: Db, path: string, { header, rowsOf }: ExportFile): Promise<string[]> {
  const findings: string[] = [];
  let count = 0;
  const report = (finding: string) => {
    count++;
    if (count <= MOST_NAMED) findings.push(finding);
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
  }
  return count <= MOST_NAMED ? findings : [...findings, `and ${count - MOST_NAMED} more differences`];
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
