import { sql } from 'kysely';
import type { AddOnKind } from '../../contract/names.ts';
import { allRows, NONE } from './rows.ts';
import type { Db, SessionDayRow } from './schema.ts';
import { PERSON } from './session-rows.ts';
import { type Days, inDays } from './summed-days.ts';
import { isNamed, type Viewer } from './viewer.ts';

export interface AddOnFilter extends Days {
  kind?: AddOnKind | undefined;
}

/** The rows of add-ons. They have their own index, because they are few among the rows of a day. */
const asked = (filter: AddOnFilter) => sql`
  session_days where ${inDays(filter)} and last_used_at is not null
    ${filter.kind === undefined ? NONE : sql`and kind = ${filter.kind}`}`;

interface AddOnName {
  kind: AddOnKind;
  name: string;
}

interface AddOnSum extends AddOnName, Pick<SessionDayRow, 'failures'> {
  calls: number;
  last_used_at: number;
  /** How many sessions called the add-on. */
  sessions: number;
  /** How many sessions had it available. */
  listed: number;
  people: number;
}

/**
 * Finds the add-ons with the most calls, among those of sessions whose existence the viewer may know; add-ons without a call come last. The
 * time of the last call is that of such a session, too, because it would tell when somebody else worked. A session has a row of an
 * add-on for each day.
 */
export function findAddOns(db: Db, viewer: Viewer, filter: AddOnFilter, limit: number): Promise<AddOnSum[]> {
  // Every row of an add-on has such a time, so it is null if the viewer may know none of the sessions.
  const lastUsedAt = sql`max(case when ${isNamed(viewer, 'session_days.session_id')} then last_used_at end)`;
  return allRows(
    db,
    sql<AddOnSum>`
      select kind, name, cast(sum(tool_calls) as bigint) as calls, cast(sum(failures) as bigint) as failures,
        cast(count(distinct case when tool_calls > 0 then session_id end) as bigint) as sessions,
        cast(count(distinct case when is_listed > 0 then session_id end) as bigint) as listed,
        count(distinct case when tool_calls > 0 then ${PERSON} end) as people, ${lastUsedAt} as last_used_at
      from ${asked(filter)}
      group by kind, name having ${lastUsedAt} is not null
      order by sum(tool_calls) desc, kind, name limit ${limit}`,
  );
}

/** Finds the people or agents that call the add-ons with these names, the most frequent first. */
export const readCallersOf = (
  db: Db,
  filter: AddOnFilter,
  names: readonly string[],
  column: 'user_id' | 'agent_id',
  limit: number,
) =>
  allRows(
    db,
    sql<AddOnName & { caller: string }>`
      select kind, name, caller
      from (
        select kind, name, tool_calls, ${column === 'user_id' ? PERSON : sql`agent_id`} as caller
        from ${asked(filter)} and name in (${sql.join([...names])}) and tool_calls > 0
      ) as called
      where caller is not null group by kind, name, caller order by sum(tool_calls) desc, caller limit ${limit}`,
  );

type SubAgentTokens = Pick<AddOnName, 'name'> & Record<'input' | 'output' | 'unpriced' | 'cost', number>;

/** Reads the tokens of sub-agents and their cost. */
export const readTokensOf = (db: Db, filter: AddOnFilter, names: readonly string[]) =>
  allRows(
    db,
    sql<SubAgentTokens>`
      select name, cast(sum(input_tokens) as bigint) as input, cast(sum(output_tokens) as bigint) as output,
        cast(sum(unpriced_tokens) as bigint) as unpriced, sum(cost) as cost
      from ${asked(filter)} and kind = 'subagent' and name in (${sql.join([...names])})
        and input_tokens + output_tokens > 0
      group by name`,
  );
