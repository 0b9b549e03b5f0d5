import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { startServer } from '../test/postgres.ts';
import { type Where, withFolder } from './process.ts';
import type { Row } from './report.ts';

/** A PostgreSQL for one bench, with its default durability. */
export const startPostgres = startServer;

/** Creates an empty database. @returns its address */
export async function createDatabase(url: string): Promise<string> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  await client.query(`CREATE DATABASE "${name}"`);
  await client.end();
  return `${url}/${name}`;
}

/** Measures the same on a new store of each engine, one after the other. */
export async function onBothEngines(measure: (engine: string, where: Where) => Promise<Row[]>): Promise<Row[]> {
  const sqlite = await withFolder((dataDir) => measure('SQLite', { dataDir }));
  const postgres = await startPostgres();
  try {
    const databaseUrl = await createDatabase(postgres.url);
    return [...sqlite, ...(await withFolder((dataDir) => measure('PostgreSQL', { dataDir, databaseUrl })))];
  } finally {
    await postgres.stop();
  }
}
