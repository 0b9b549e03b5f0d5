import { sql } from 'kysely';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { changedRows, firstRow } from '../../store/rows.ts';
import type { Db, ProviderRecordRow } from '../../store/schema.ts';

/** Columns that `oidc-provider` uses to find records. */
type Column = 'record_id' | 'uid' | 'user_code';

/**
 * Keeps the provider's records in the store, so that they survive a restart and every replica sees them. An expired record is
 * not found, even before it is purged.
 */
export function createRecords(db: Db, now: () => number): AdapterFactory {
  return (model): Adapter => {
    const keyOf = (id: string) => `${model}:${id}`;

    async function findBy(column: Column, value: string): Promise<AdapterPayload | undefined> {
      // The value comes from a visitor, and PostgreSQL refuses this character.
      if (value.includes('\0')) return undefined;
      const row = await firstRow(
        db,
        sql<Pick<ProviderRecordRow, 'payload' | 'consumed_at'>>`
          select payload, consumed_at from provider_records
          where ${sql.ref(column)} = ${value} and model = ${model} and (expires_at is null or expires_at > ${now()})`,
      );
      if (!row) return undefined;
      const consumed = row.consumed_at === null ? {} : { consumed: Math.floor(row.consumed_at / 1000) };
      return { ...(JSON.parse(row.payload) as AdapterPayload), ...consumed };
    }

    return {
      async upsert(id, payload, expiresIn) {
        const { grantId = null, uid = null, userCode = null } = payload;
        const expiresAt = expiresIn === undefined ? null : now() + expiresIn * 1000;
        await sql`
          insert into provider_records (record_id, model, grant_id, uid, user_code, payload, expires_at)
          values (${keyOf(id)}, ${model}, ${grantId}, ${uid}, ${userCode}, ${JSON.stringify(payload)}, ${expiresAt})
          on conflict (record_id) do update set grant_id = excluded.grant_id, uid = excluded.uid,
            user_code = excluded.user_code, payload = excluded.payload, expires_at = excluded.expires_at`.execute(db);
      },
      find: (id) => findBy('record_id', keyOf(id)),
      findByUid: (uid) => findBy('uid', uid),
      findByUserCode: (userCode) => findBy('user_code', userCode),
      /** @throws InvalidGrant if another request, here or on another replica, was first */
      async consume(id) {
        const consumed = await changedRows(
          db,
          sql`
            update provider_records set consumed_at = ${now()}
            where record_id = ${keyOf(id)} and consumed_at is null`,
        );
        if (consumed === 1) return;
        const { errors } = await import('oidc-provider');
        throw new errors.InvalidGrant(`${model} was used already`);
      },
      async destroy(id) {
        await sql`delete from provider_records where record_id = ${keyOf(id)}`.execute(db);
      },
      async revokeByGrantId(grantId) {
        await sql`delete from provider_records where grant_id = ${grantId} and model = ${model}`.execute(db);
      },
    };
  };
}

/** Ends a grant with all its tokens. */
export async function revokeGrants(db: Db, grantIds: readonly string[]): Promise<void> {
  if (grantIds.length === 0) return;
  const records = grantIds.map((id) => `Grant:${id}`);
  await sql`
    delete from provider_records
    where grant_id in (${sql.join([...grantIds])}) or record_id in (${sql.join(records)})`.execute(db);
}

/**
 * Ends every sign-in of an account. There is no index by account, so this reads all records; passwords are replaced
 * rarely enough.
 */
export async function revokeAccount(db: Db, accountId: string): Promise<void> {
  await sql`delete from provider_records where payload like ${`%"accountId":"${accountId}"%`}`.execute(db);
}

export async function purgeRecords(db: Db, now: number): Promise<void> {
  await sql`delete from provider_records where expires_at <= ${now}`.execute(db);
}
