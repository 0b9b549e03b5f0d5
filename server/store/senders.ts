import { sql } from 'kysely';
import type { SessionSenders } from '../../contract/senders.ts';
import { optional, toTimestamp } from './columns.ts';
import { allRows } from './rows.ts';
import type { AppendRow, Db, SecretRow } from './schema.ts';
import type { ReadableSession } from './viewer.ts';

const MAX_SHOWN = 100;

type SenderSum = Pick<SecretRow, 'secret_id' | 'name' | 'environment_id'> &
  Pick<AppendRow, 'first_sequence' | 'last_sequence'> & { events: number; last_at: number };

/** Lists the secrets of other machines, and secrets without a machine, that sent events of the session. */
export const listSenders = (
  db: Db,
  { organization_id, session_id, environment_id }: ReadableSession,
): Promise<SenderSum[]> =>
  allRows(
    db,
    sql<SenderSum>`
      select secrets.secret_id, secrets.name, secrets.environment_id, sent.first_sequence, sent.last_sequence, sent.events,
        sent.last_at
      from (
        select other_secret_id, min(first_sequence) as first_sequence, max(last_sequence) as last_sequence,
          cast(sum(last_sequence - first_sequence + 1) as bigint) as events, max(created_at) as last_at
        from appends
        where session_id = ${session_id} and organization_id = ${organization_id} and other_secret_id is not null
        group by other_secret_id
      ) as sent join secrets on secrets.secret_id = sent.other_secret_id and secrets.organization_id = ${organization_id}
      where secrets.environment_id is distinct from ${environment_id}
      order by sent.first_sequence limit ${MAX_SHOWN}`,
  );

export const toSender = (row: SenderSum): SessionSenders['senders'][number] => ({
  secretId: row.secret_id,
  ...optional('name', row.name),
  ...optional('environmentId', row.environment_id),
  events: Number(row.events),
  firstSequence: row.first_sequence,
  lastSequence: row.last_sequence,
  lastAt: toTimestamp(Number(row.last_at)),
});
