import { sql } from 'kysely';
import type { SessionKey } from '../log/decide.ts';
import { ofEngine } from './dialect.ts';
import { allRows, firstRow } from './rows.ts';
import type { Db, SessionChainRow, SessionRow } from './schema.ts';

export const findChain = (db: Db, { organizationId, sessionId }: SessionKey) =>
  firstRow(
    db,
    sql<SessionChainRow>`
      select * from session_chains where organization_id = ${organizationId} and session_id = ${sessionId}`,
  );

/**
 * Writes the signed head of an existing session. A stored head with more events stays, because both are correct; of two heads for
 * the same event the later one stays. The first key of a machine stays.
 */
export async function writeChain(db: Db, chain: SessionChainRow): Promise<void> {
  const { session_id, organization_id, sequence, hash, machine_key, envelope, signed_at } = chain;
  await sql`
    insert into session_chains (session_id, organization_id, sequence, hash, machine_key, envelope, signed_at)
    select session_id, organization_id, ${sequence}, ${hash}, ${machine_key}, ${envelope}, ${signed_at}
    from sessions
    where organization_id = ${organization_id} and session_id = ${session_id} and deleted_at is null
    ${ofEngine(db, { sqlite: sql``, postgres: sql`for key share` })}
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
