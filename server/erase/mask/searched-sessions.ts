import { type RawBuilder, sql } from 'kysely';
import { allRows } from '../../store/rows.ts';
import type { Db, SessionRow } from '../../store/schema.ts';

/** Lists sessions that have their content, in the order of their ids, after one. @param which a further condition */
export const listSearched = (db: Db, after: string, limit: number, which?: RawBuilder<unknown>) =>
  allRows(
    db,
    sql<SessionRow>`
      select * from sessions
      where session_id > ${after} and deleted_at is null and content_expired_at is null ${which ? sql`and ${which}` : sql``}
      order by session_id limit ${limit}`,
  );
