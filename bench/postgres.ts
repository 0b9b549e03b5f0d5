import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { startServer } from '../server/test/postgres.ts';

/** A PostgreSQL for one bench, with its durability as delivered. */
export const startPostgres = startServer;

/** An empty database in it; returns its address. */
export async function createDatabase(url: string): Promise<string> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  await client.query(`CREATE DATABASE "${name}"`);
  await client.end();
  return `${url}/${name}`;
}
