import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWire, type Wire } from '../../test/wire.ts';
import { openStore } from '../store/open.ts';
import { assertSuitable, StoreUnsuitable } from '../store/postgres.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';

const RIGHT = {
  statement_timeout: '15s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '10s',
  synchronous_commit: 'on',
  fsync: 'on',
  full_page_writes: 'on',
  role: 'capture',
};

describe('a PostgreSQL', () => {
  test.each(['fsync', 'full_page_writes'])(
    'with %s = off is refused, and the error names the right setting',
    (name) => {
      const refused = () => assertSuitable({ ...RIGHT, [name]: 'off' });
      expect(refused).toThrow(StoreUnsuitable);
      expect(refused).toThrow(new RegExp(`Set ${name} = on in postgresql\\.conf`));
    },
  );

  test.each(['on', 'remote_write', 'remote_apply'])(
    'that commits with synchronous_commit = %s is accepted',
    (value) => {
      expect(() => assertSuitable({ ...RIGHT, synchronous_commit: value })).not.toThrow();
    },
  );

  test('behind a pooler is refused with every setting that its role lacks', () => {
    const state = { ...RIGHT, lock_timeout: '0', synchronous_commit: 'off', role: 'a"b' };
    expect(() => assertSuitable(state)).toThrow(
      `ALTER ROLE "a""b" SET lock_timeout = '2s'; ALTER ROLE "a""b" SET synchronous_commit = 'on';`,
    );
  });
});

describe.skipIf(!ENGINES.includes('postgres'))('a connection to PostgreSQL', () => {
  let store: TestStore;
  let pooler: Wire;
  let role: string;
  beforeAll(async () => {
    store = await openTestStore('postgres');
    role = `role_${randomBytes(6).toString('hex')}`;
    pooler = await startWire(Number(new URL(String(store.databaseUrl)).port), withOwnProcessId);
  });
  afterAll(async () => {
    await pooler.cut();
    await sql`drop role if exists ${sql.id(role)}`.execute(store.db);
    await store.dispose();
  });

  const open = async (changes: { port?: number; username?: string }) => {
    const url = Object.assign(new URL(String(store.databaseUrl)), changes);
    return openStore({ dataDir: store.dataDir, databaseUrl: url.href, onError: () => undefined });
  };
  const settings = async ({ db }: Pick<TestStore, 'db'>) => {
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'synchronous_commit'];
    const columns = names.map((name) => sql`current_setting(${name}) as ${sql.id(name)}`);
    return (await sql<Record<string, string>>`select ${sql.join(columns)}`.execute(db)).rows[0];
  };
  const BOUNDED = { statement_timeout: '15s', lock_timeout: '2s', idle_in_transaction_session_timeout: '10s' };

  test("waits within bounds, and syncs its commits even if the server's default does not", async () => {
    const { pathname } = new URL(String(store.databaseUrl));
    await sql`alter database ${sql.id(pathname.slice(1))} set synchronous_commit = off`.execute(store.db);
    const direct = await open({});
    expect(await settings(direct)).toEqual({ ...BOUNDED, synchronous_commit: 'on' });
    await direct.close();
  });

  test('keeps a stricter setting of the server', async () => {
    const { pathname } = new URL(String(store.databaseUrl));
    await sql`alter database ${sql.id(pathname.slice(1))} set synchronous_commit = remote_apply`.execute(store.db);
    const direct = await open({});
    expect(await settings(direct)).toEqual({ ...BOUNDED, synchronous_commit: 'remote_apply' });
    await direct.close();
    await sql`alter database ${sql.id(pathname.slice(1))} reset synchronous_commit`.execute(store.db);
  });

  test('through a pooler is left unchanged, and refused if its role allows endless waiting', async () => {
    await sql`create role ${sql.id(role)} login superuser`.execute(store.db);
    const through = { port: pooler.port, username: role };
    await expect(open(through)).rejects.toThrow(`ALTER ROLE "${role}" SET statement_timeout = '15s'`);
    for (const [name, value] of Object.entries({ ...BOUNDED, lock_timeout: '3s' })) {
      await sql`alter role ${sql.id(role)} set ${sql.raw(name)} = ${sql.lit(value)}`.execute(store.db);
    }
    const pooled = await open(through);
    expect(await settings(pooled)).toMatchObject({ ...BOUNDED, lock_timeout: '3s' });
    // One backend would know the name, and another would get the query.
    await pooled.pool?.query({ name: 'named', text: 'select 1' });
    const { rows } = (await pooled.pool?.query('select name from pg_prepared_statements')) ?? { rows: [{}] };
    expect(rows).toEqual([]);
    await pooled.close();
  });
});

/** Gives out another process id in the message `BackendKeyData`, as a pooler does. */
function withOwnProcessId(sent: Buffer): Buffer {
  const at = sent.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
  if (at >= 0) sent.writeInt32BE(sent.readInt32BE(at + 5) + 1, at + 5);
  return sent;
}
