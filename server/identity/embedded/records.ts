import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import type { Db } from '../../store/schema.ts';

/** Columns that `oidc-provider` uses to find records. */
type Column = 'record_id' | 'uid' | 'user_code';

/**
 * Keeps the provider's records in the store, so that they survive a restart and every replica sees them. An expired record
 * is not found, even before it is purged.
 */
export function createRecords(db: Db, now: () => number): AdapterFactory {
  return (model): Adapter => {
    const keyOf = (id: string) => `${model}:${id}`;

    async function findBy(column: Column, value: string): Promise<AdapterPayload | undefined> {
      // The value comes from a visitor, and PostgreSQL refuses this character.
      if (value.includes('\0')) return undefined;
      const row = await db
        .selectFrom('provider_records')
        .select(['payload', 'consumed_at'])
        .where(column, '=', value)
        .where('model', '=', model)
        .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now())]))
        .executeTakeFirst();
      if (!row) return undefined;
      const consumed = row.consumed_at === null ? {} : { consumed: Math.floor(row.consumed_at / 1000) };
      return { ...(JSON.parse(row.payload) as AdapterPayload), ...consumed };
    }

    return {
      async upsert(id, payload, expiresIn) {
        const values = {
          grant_id: payload.grantId ?? null,
          uid: payload.uid ?? null,
          user_code: payload.userCode ?? null,
          payload: JSON.stringify(payload),
          expires_at: expiresIn === undefined ? null : now() + expiresIn * 1000,
        };
        await db
          .insertInto('provider_records')
          .values({ record_id: keyOf(id), model, consumed_at: null, ...values })
          .onConflict((conflict) => conflict.column('record_id').doUpdateSet(values))
          .execute();
      },
      find: (id) => findBy('record_id', keyOf(id)),
      findByUid: (uid) => findBy('uid', uid),
      findByUserCode: (userCode) => findBy('user_code', userCode),
      /** @throws InvalidGrant when another request, here or on another replica, was first */
      async consume(id) {
        const { numUpdatedRows } = await db
          .updateTable('provider_records')
          .set({ consumed_at: now() })
          .where('record_id', '=', keyOf(id))
          .where('consumed_at', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 1n) return;
        const { errors } = await import('oidc-provider');
        throw new errors.InvalidGrant(`${model} was used already`);
      },
      async destroy(id) {
        await db.deleteFrom('provider_records').where('record_id', '=', keyOf(id)).execute();
      },
      async revokeByGrantId(grantId) {
        await db.deleteFrom('provider_records').where('grant_id', '=', grantId).where('model', '=', model).execute();
      },
    };
  };
}

/** Ends a grant with all its tokens. */
export async function revokeGrants(db: Db, grantIds: readonly string[]): Promise<void> {
  if (grantIds.length === 0) return;
  const grants = grantIds.map((id) => `Grant:${id}`);
  await db
    .deleteFrom('provider_records')
    .where(({ eb, or }) => or([eb('grant_id', 'in', grantIds), eb('record_id', 'in', grants)]))
    .execute();
}

/**
 * Ends every sign-in of an account. There is no index by account, so this reads all records; passwords are replaced
 * rarely enough.
 */
export async function revokeAccount(db: Db, accountId: string): Promise<void> {
  await db.deleteFrom('provider_records').where('payload', 'like', `%"accountId":"${accountId}"%`).execute();
}

export async function purgeRecords(db: Db, now: number): Promise<void> {
  await db.deleteFrom('provider_records').where('expires_at', '<=', now).execute();
}
