import { expect, test } from 'vitest';
import { removeOrganization } from '../erase/organization-end.ts';
import { insertDirectoryUser } from '../store/directory.ts';
import { addStored } from '../store/stored-bytes.ts';
import { ENGINES, openTestStore } from './engines.ts';

test.each(ENGINES)('removing an organization with many rows on %s keeps the rows of others', async (engine) => {
  const store = await openTestStore(engine);
  const { db } = store;
  const organizations = ['gone', 'kept'].map((organization_id) => ({
    organization_id,
    name: organization_id,
    slug: organization_id,
    status: 'deleted' as const,
    owner_user_id: 'usr_1',
    tenant_assigned: 0 as const,
    created_at: 1,
    updated_at: 1,
  }));
  await db.insertInto('organizations').values(organizations).execute();
  for (const { organization_id } of organizations) {
    for (let slice = 0; slice < 13; slice++) {
      const rows = Array.from({ length: 100 }, (_, index) => ({
        session_id: `ses_${organization_id}-${slice}-${index}`,
        organization_id,
        bytes: 1,
      }));
      await db.insertInto('stored_bytes').values(rows).execute();
    }
    await db.insertInto('stored_days').values({ organization_id, day: '2026-01-01', bytes: 1 }).execute();
    await db.insertInto('policies').values({ organization_id, policy: '{}', updated_at: 1 }).execute();
    const token = { token_id: 'dit_1', hash: organization_id, last_four: '1234', created_by: 'usr_1', created_at: 1 };
    await db
      .insertInto('directory_tokens')
      .values({ organization_id, ...token, last_used_at: null })
      .execute();
    const user = { attributes: { userName: 'person@example.com' }, memberKey: 'person@example.com' };
    await insertDirectoryUser(db, organization_id, user, 1);
  }
  expect(await removeOrganization(db, 'gone')).toBe(true);
  const left = (
    table: 'stored_bytes' | 'stored_days' | 'policies' | 'directory_tokens' | 'directory_users' | 'organizations',
  ) => db.selectFrom(table).select('organization_id').execute();
  const kept = { organization_id: 'kept' };
  expect(await left('stored_bytes')).toEqual(Array(1_300).fill(kept));
  expect(await left('stored_days')).toEqual([kept]);
  for (const table of ['policies', 'directory_tokens', 'directory_users'] as const)
    expect(await left(table)).toEqual([kept]);
  expect(await left('organizations')).toEqual([kept]);
  await store.dispose();
});

test.each(ENGINES)('bytes on %s that are counted after the end of their organization leave no row', async (engine) => {
  const store = await openTestStore(engine);
  const { db } = store;
  const organization = { name: '', tenant_assigned: 0, owner_user_id: 'usr_1', created_at: 1, updated_at: 1 } as const;
  const organizations = (['deleted', 'active'] as const).map((status) => ({
    ...organization,
    organization_id: `org_${status}`,
    slug: status,
    status,
  }));
  await db.insertInto('organizations').values(organizations).execute();
  const added = ['org_deleted', 'org_active', 'org_removed'].map((organizationId) => ({
    organizationId,
    sessionId: `ses of ${organizationId}`,
    bytes: 5,
  }));
  for (let count = 0; count < 2; count++) await addStored(db, added, '2026-11-28');
  const rows = await db.selectFrom('stored_days').selectAll().execute();
  expect(rows).toEqual([{ organization_id: 'org_active', day: '2026-11-28', bytes: 10 }]);
  await store.dispose();
});
