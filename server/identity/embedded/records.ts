import { type RawBuilder, sql } from 'kysely';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { changedRows, firstRow } from '../../store/rows.ts';
import type { Db, ProviderRecordRow } from '../../store/schema.ts';

/** Columns that `oidc-provider` uses to find records. */
type Column = 'record_id' | 'uid';

/**
 * The payload of a record that ended. The row stays until it expires: the provider saves a session at the end of each request, and
 * a request that began before must not bring the session back.
 */
const ENDED = '';

/**
 * Keeps the provider's records in the store, so that they survive a restart and every replica sees them. An expired record is
 * not found, even before it is purged, and neither is one that ended.
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
          where ${sql.ref(column)} = ${value} and model = ${model} and payload <> ${ENDED}
            and (expires_at is null or expires_at > ${now()})`,
      );
      if (!row) return undefined;
      const consumed = row.consumed_at === null ? {} : { consumed: Math.floor(row.consumed_at / 1000) };
      return { ...(JSON.parse(row.payload) as AdapterPayload), ...consumed };
    }

    return {
      async upsert(id, payload, expiresIn) {
        const { grantId = null, uid = null } = payload;
        const expiresAt = expiresIn === undefined ? null : now() + expiresIn * 1000;
        await sql`
          insert into provider_records (record_id, model, grant_id, uid, payload, expires_at)
          values (${keyOf(id)}, ${model}, ${grantId}, ${uid}, ${JSON.stringify(payload)}, ${expiresAt})
          on conflict (record_id) do update set grant_id = excluded.grant_id, uid = excluded.uid,
            payload = excluded.payload, expires_at = excluded.expires_at
          where provider_records.payload <> ${ENDED}`.execute(db);
      },
      find: (id) => findBy('record_id', keyOf(id)),
      findByUid: (uid) => findBy('uid', uid),
      // Machines sign in by the service's own routes, so the provider never makes a user code.
      findByUserCode: async () => undefined,
      /** @throws InvalidGrant if another request, here or on another replica, was first */
      async consume(id) {
        const consumed = await changedRows(
          db,
          sql`
            update provider_records set consumed_at = ${now()}
            where record_id = ${keyOf(id)} and consumed_at is null and payload <> ${ENDED}`,
        );
        if (consumed === 1) return;
        const { errors } = await import('oidc-provider');
        throw new errors.InvalidGrant(`${model} was used already`);
      },
      async destroy(id) {
        await end(db, sql`record_id = ${keyOf(id)}`);
      },
      async revokeByGrantId(grantId) {
        await end(db, sql`grant_id = ${grantId} and model = ${model}`);
      },
    };
  };
}

async function end(db: Db, condition: RawBuilder<unknown>): Promise<void> {
  await sql`update provider_records set payload = ${ENDED} where ${condition}`.execute(db);
}

/** Ends the session of a browser and its grants with all their tokens, in one statement. */
export async function endSignIn(db: Db, sessionId: string, grantIds: readonly string[]): Promise<void> {
  const records = [`Session:${sessionId}`, ...grantIds.map((id) => `Grant:${id}`)];
  // An empty list is not valid SQL, and no grant has this id.
  const grants = grantIds.length === 0 ? [''] : [...grantIds];
  await end(db, sql`record_id in (${sql.join(records)}) or grant_id in (${sql.join(grants)})`);
}

/**
 * Ends every sign-in of an account. There is no index by account, so this reads all records; accounts are removed rarely
 * enough.
 */
export const endAccount = (db: Db, accountId: string): Promise<void> =>
  end(db, sql`payload like ${`%"accountId":"${accountId}"%`}`);

export async function purgeRecords(db: Db, now: number): Promise<void> {
  await sql`delete from provider_records where expires_at <= ${now}`.execute(db);
}
