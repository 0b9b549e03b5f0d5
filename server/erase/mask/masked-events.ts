import { sql } from 'kysely';
import { eventDigest } from '../../../contract/chain.ts';
import { saltsOf, withoutSalts } from '../../../contract/salts.ts';
import type { StoredAppend } from '../../store/events.ts';
import { changedRows, type Sql } from '../../store/rows.ts';
import { lockSaltKeys, writeSaltKeys } from '../../store/salt-keys.ts';
import type { Db } from '../../store/schema.ts';
import { assertUnheld, type SessionMask } from './masks.ts';

export interface MaskedEvent {
  sequence: number;
  /** The `contentDigest` of the original event, which must not be stored. */
  content: string;
  /** How many pieces were replaced. */
  count: number;
}

/** An append with its masked body. */
export interface MaskedAppend {
  append: StoredAppend;
  codec: number;
  body: Uint8Array;
  events: MaskedEvent[];
}

/** How many rows one statement inserts. A database limits the number of parameters. */
const EVENTS_AT_ONCE = 1_000;

/**
 * Writes masked appends, the digests of the original events, and the progress of the job, in one transaction. It also removes the
 * salts of these events and the fingerprints of the appends, which are digests of the original text. Afterwards nobody can find
 * out by guessing which text it was.
 * @returns false, without writing, if one of the appends has changed since it was read
 * @throws MaskHeld; JobLost
 */
export const writeMasked = (
  db: Db,
  mask: SessionMask,
  appends: readonly MaskedAppend[],
  now: number,
  along: (transaction: Db) => Promise<void>,
): Promise<boolean> => {
  const { organization_id: organizationId, session_id: sessionId, mask_id } = mask;
  return db
    .transaction()
    .execute(async (transaction) => {
      await assertUnheld(transaction, { organizationId, sessionId });
      // The job comes first, as in a cancellation, so that two transactions cannot deadlock.
      await along(transaction);
      for (const { append, codec, body } of appends) {
        const changed = await changedRows(
          transaction,
          sql`
            update appends set codec = ${codec}, body = ${body}, fingerprint = null
            where organization_id = ${organizationId} and session_id = ${sessionId}
              and first_sequence = ${append.first_sequence} and body = ${append.body}`,
        );
        if (changed === 0) throw new Overtaken();
      }
      const events = appends.flatMap((append) => append.events);
      await noteMasked(transaction, mask, events, now);
      const places = events.reduce((sum, { count }) => sum + count, 0);
      await sql`
        update masks set events = events + ${events.length}, places = places + ${places}
        where organization_id = ${organizationId} and mask_id = ${mask_id}`.execute(transaction);
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof Overtaken) return false;
      throw error;
    });
};

/**
 * Notes masked events with their digests, and removes their salts. An event without a salt was masked before, so it keeps its
 * digest; or its content is being removed, so it needs none.
 */
async function noteMasked(
  transaction: Db,
  { organization_id: organizationId, session_id: sessionId, requested_by }: SessionMask,
  events: readonly MaskedEvent[],
  now: number,
): Promise<void> {
  const place = { organizationId, sessionId };
  const saltKeys = await lockSaltKeys(transaction, place);
  const saltOf = saltsOf(saltKeys);
  const added: Sql[] = [];
  const again: Sql[] = [];
  for (const { sequence, content, count } of events) {
    const salt = saltOf(sequence);
    if (salt === undefined) again.push(sql`(${sql.lit(sequence)}, ${sql.lit(count)})`);
    else {
      const digest = eventDigest(salt, content);
      added.push(sql`(${sessionId}, ${sequence}, ${organizationId}, ${digest}, ${count}, ${requested_by}, ${now})`);
    }
  }
  for (let from = 0; from < added.length; from += EVENTS_AT_ONCE) {
    await sql`
      insert into event_masks (session_id, sequence, organization_id, digest, places, masked_by, masked_at)
      values ${sql.join(added.slice(from, from + EVENTS_AT_ONCE))}`.execute(transaction);
  }
  for (let from = 0; from < again.length; from += EVENTS_AT_ONCE) {
    await sql`
      with masked (sequence, places) as (values ${sql.join(again.slice(from, from + EVENTS_AT_ONCE))})
      update event_masks set places = event_masks.places + masked.places, masked_by = ${requested_by}, masked_at = ${now}
      from masked
      where organization_id = ${organizationId} and session_id = ${sessionId}
        and event_masks.sequence = masked.sequence`.execute(transaction);
  }
  if (added.length === 0) return;
  await writeSaltKeys(
    transaction,
    place,
    withoutSalts(
      saltKeys,
      events.map(({ sequence }) => sequence),
    ),
  );
}

/** Another mask changed an append meanwhile. */
class Overtaken extends Error {}
