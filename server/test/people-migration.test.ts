import { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { COLUMN_TYPES } from '../store/dialect.ts';
import { initial } from '../store/migrations/0001-initial.ts';
import { people } from '../store/migrations/0003-people.ts';
import { openPostgres, postgresDialect } from '../store/postgres.ts';
import { sqliteDialect } from '../store/sqlite/driver.ts';
import { openFile } from '../store/sqlite/open.ts';
import { ENGINES, openTestStore } from './engines.ts';

const DATED = { created_at: 1, updated_at: 1 };
const member = (user_id: string, status: string) => ({
  ...DATED,
  organization_id: 'org_a',
  user_id,
  email: `${user_id}@Example.com`,
  email_key: `${user_id}@example.com`,
  role: 'member',
  status,
});

test.each(ENGINES)('members and invitations of the first schema on %s are there after the change', async (engine) => {
  const store = await openTestStore(engine);
  if (store.databaseUrl) await store.db.schema.dropSchema('public').cascade().execute();
  if (store.databaseUrl) await store.db.schema.createSchema('public').execute();
  const dialect = store.databaseUrl
    ? postgresDialect(openPostgres(store.databaseUrl, () => undefined))
    : sqliteDialect(await openFile(`${store.dataDir}/old.sqlite`, () => undefined));
  // biome-ignore lint/suspicious/noExplicitAny: the tables of another version
  const db = new Kysely<any>({ dialect });
  await initial(COLUMN_TYPES[engine]).up(db);
  const organization = { organization_id: 'org_a', name: 'A', slug: 'a', status: 'active', owner_user_id: 'usr_a' };
  await db
    .insertInto('organizations')
    .values({ ...organization, ...DATED, tenant_assigned: 1 })
    .execute();
  await db
    .insertInto('members')
    .values([member('a', 'active'), member('b', 'invited'), member('c', 'invited')])
    .execute();
  const link = { token_hash: 'x', purpose: 'invitation', email: 'b@example.com', created_at: 1, expires_at: 77 };
  await db.insertInto('links').values(link).execute();

  await people.up(db);

  expect(await db.selectFrom('members').selectAll().orderBy('user_id').execute()).toMatchObject([
    { ...member('a', 'active'), mailed_at: null, link_expires_at: null },
    { ...member('b', 'invited'), mailed_at: 1, link_expires_at: 77 },
    { ...member('c', 'invited'), mailed_at: 1, link_expires_at: null },
  ]);
  const again = db.insertInto('members').values({ ...member('a', 'active'), user_id: 'd' });
  await expect(again.execute()).rejects.toThrow(/unique/i);
  await db.destroy();
  await store.dispose();
});
