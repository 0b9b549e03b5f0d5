import { sql } from 'kysely';
import type { SessionKey } from '../log/decide.ts';
import { isOneOf, ofEngine } from './dialect.ts';
import { allRows, firstRow } from './rows.ts';
import type { Db, SessionRow } from './schema.ts';
import type { SessionChainRow } from './schema-governance.ts';

export const findChain = (db: Db, { organizationId, sessionId }: SessionKey) =>
  firstRow(
    db,
    sql<SessionChainRow>`
      select * from session_chains where organization_id = ${organizationId} and session_id = ${sessionId}`,
  );

/** Finds the chains of these sessions, by session. Some sessions have none. */
export async function findChains(
  db: Db,
  organizationId: string,
  sessionIds: readonly string[],
): Promise<Map<string, SessionChainRow>> {
  const rows = await allRows(
    db,
    sql<SessionChainRow>`
      select * from session_chains
      where organization_id = ${organizationId} and ${isOneOf(db, 'session_id', sessionIds)}`,
  );
  return new Map(rows.map((row) => [row.session_id, row]));
}

/**
 * Writes signed heads of existing sessions. A stored head with more events stays, because both are correct; of two heads for the
 * same event the later one stays. The first key of a machine stays. All of it is one statement, so that appends wait for only one
 * commit.
 */
export async function writeChains(db: Db, chains: readonly SessionChainRow[]): Promise<void> {
  const text = JSON.stringify(chains);
  const signed = ofEngine(db, {
    postgres: sql`json_to_recordset(${text}::json) as signed (session_id text, organization_id text, sequence bigint,
      hash text, machine_key text, envelope text, signed_at bigint)`,
    sqlite: sql`(select value ->> 'session_id' as session_id, value ->> 'organization_id' as organization_id,
      value ->> 'sequence' as sequence, value ->> 'hash' as hash, value ->> 'machine_key' as machine_key,
      value ->> 'envelope' as envelope, value ->> 'signed_at' as signed_at from json_each(${text})) as signed`,
  });
  // Ordered, so that two replicas cannot deadlock.
  const inOrder = sql`order by sessions.session_id ${ofEngine(db, { sqlite: sql``, postgres: sql`for key share of sessions` })}`;
  await sql`
    insert into session_chains (session_id, organization_id, sequence, hash, machine_key, envelope, signed_at)
    select sessions.session_id, sessions.organization_id, signed.sequence, signed.hash, signed.machine_key,
      signed.envelope, signed.signed_at
    from ${signed} cross join sessions
    where sessions.organization_id = signed.organization_id and sessions.session_id = signed.session_id
      and sessions.deleted_at is null
    ${inOrder}
    on conflict (session_id) do update set
      sequence = excluded.sequence, hash = excluded.hash, envelope = excluded.envelope,
      machine_key = excluded.machine_key, signed_at = excluded.signed_at
    where session_chains.sequence <= excluded.sequence
      and (session_chains.machine_key is null or session_chains.machine_key = excluded.machine_key)`.execute(db);
}

/** Lists sessions with unsigned events, of all organizations. Sessions without their content have no events any more. */
export const listUnsigned = (db: Db, after: string, limit: number) =>
  allRows(
    db,
    sql<SessionRow>`
      select s.* from sessions s left join session_chains c on c.session_id = s.session_id
      where s.session_id > ${after} and s.event_count > coalesce(c.sequence, 0)
        and s.deleted_at is null and s.content_expired_at is null
      order by s.session_id limit ${limit}`,
  );

/** The digests of the originals of masked events, by sequence. */
export async function readMaskedDigests(
  db: Db,
  { organizationId, sessionId }: SessionKey,
  from: number,
  to: number,
): Promise<Map<number, string>> {
  const rows = await allRows(
    db,
    sql<{ sequence: number; digest: string }>`
      select sequence, digest from event_masks
      where organization_id = ${organizationId} and session_id = ${sessionId} and sequence between ${from} and ${to}
      order by sequence`,
  );
  return new Map(rows.map(({ sequence, digest }) => [sequence, digest]));
}
