import { sql } from 'kysely';
import type { AddOnKind } from '../../contract/entry/add-on.ts';
import { allRows, NONE } from './rows.ts';
import type { Db, SessionAddOnRow } from './schema.ts';
import { personOf } from './session-rows.ts';
import { type Days, inDays } from './summed-days.ts';

export interface AddOnFilter extends Days {
  kind?: AddOnKind | undefined;
}

const asked = (filter: AddOnFilter) => sql`
  ${inDays(filter)} ${filter.kind === undefined ? NONE : sql`and kind = ${filter.kind}`}`;

interface AddOnSum extends Pick<SessionAddOnRow, 'kind' | 'name' | 'calls' | 'failures' | 'last_used_at'> {
  /** How many sessions called the add-on. */
  sessions: number;
  /** How many sessions had it available. */
  listed: number;
  people: number;
}

/**
 * Finds the add-ons with the most calls; add-ons without a call come last. A session has several rows for an add-on: one for
 * each day, and one for each model.
 */
export const findAddOns = (db: Db, filter: AddOnFilter, limit: number) =>
  allRows(
    db,
    sql<AddOnSum>`
      select kind, name, cast(sum(calls) as bigint) as calls, cast(sum(failures) as bigint) as failures,
        cast(count(distinct case when calls > 0 then session_id end) as bigint) as sessions,
        cast(count(distinct case when is_listed > 0 then session_id end) as bigint) as listed,
        count(distinct case when calls > 0 then ${personOf('session_add_ons')} end) as people, max(last_used_at) as last_used_at
      from session_add_ons where ${asked(filter)}
      group by kind, name order by sum(calls) desc, kind, name limit ${limit}`,
  );

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
    sql<Pick<SessionAddOnRow, 'kind' | 'name'> & { caller: string }>`
      select kind, name, caller
      from (
        select kind, name, calls, ${column === 'user_id' ? personOf('session_add_ons') : sql`agent_id`} as caller
        from session_add_ons where ${asked(filter)} and name in (${sql.join([...names])}) and calls > 0
      ) as called
      where caller is not null group by kind, name, caller order by sum(calls) desc, caller limit ${limit}`,
  );

type SubAgentTokens = Pick<SessionAddOnRow, 'name'> & Record<'input' | 'output' | 'unpriced' | 'cost', number>;

/** Reads the tokens of sub-agents and their cost. */
export const readTokensOf = (db: Db, filter: AddOnFilter, names: readonly string[]) =>
  allRows(
    db,
    sql<SubAgentTokens>`
      select name, cast(sum(input_tokens) as bigint) as input, cast(sum(output_tokens) as bigint) as output,
        cast(sum(unpriced_tokens) as bigint) as unpriced, sum(cost) as cost
      from session_add_ons
      where ${asked(filter)} and kind = 'subagent' and name in (${sql.join([...names])})
        and input_tokens + output_tokens > 0
      group by name`,
  );
