import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { decodeFrame } from '../log/frame.ts';
import { isPostgres } from '../store/postgres.ts';
import type { AppendRow, Db } from '../store/schema.ts';

/**
 * Returns the decoded rows of any table that hold the marker, and one more line if the index of words has it.
 * @param word the marker's word as the index stores it
 */
export async function rowsWith(db: Db, marker: string, word = marker): Promise<string[]> {
  const tables = (await db.introspection.getTables()).map(({ name }) => name);
  const texts: string[] = [];
  for (const table of tables.filter((name) => !name.startsWith('chunk_words'))) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db);
    for (const row of rows) texts.push(`${table} ${readable(row)}`);
  }
  if (!isPostgres(db) && (await isIndexed(db, word))) texts.push(`the index of words has ${marker}`);
  return texts.filter((text) => text.includes(marker));
}

async function isIndexed(db: Db, word: string): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    select count(*) as found from chunk_words where chunk_words match ${`"${word}"`}`.execute(db);
  return Number(rows[0]?.found) > 0;
}

function readable(row: Record<string, unknown>): string {
  if ('codec' in row) {
    const { body, ...rest } = row as unknown as AppendRow;
    const texts = decodeFrame({ codec: rest.codec, body }).map(
      ({ eventType, payload }) => eventType + Buffer.from(payload),
    );
    return JSON.stringify(rest) + texts.join('') + Buffer.from(body).toString('latin1');
  }
  // A signature has bits, but no text.
  const { signature: _, ...others } = row;
  return Object.values(others)
    .map((value) => (value instanceof Uint8Array ? zstdDecompressSync(value).toString('utf8') : String(value)))
    .join(' ');
}

/** Files of the store that contain the text uncompressed. */
export const filesWith = (folder: string, text: string): string[] =>
  readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text));
