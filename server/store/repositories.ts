import { sql } from 'kysely';
import { Problem } from '../../contract/problem.ts';
import type { Repositories } from '../../contract/repositories.ts';
import { addressOf, hasHost, isFolder } from '../../contract/repository.ts';
import { findNamedValues, nameOfValue } from './named-values.ts';
import { allRows, firstRow, oneRow } from './rows.ts';
import type { Db } from './schema.ts';
import { named, type Viewer } from './viewer.ts';

const MAX_LISTED = 500;
/** How many repositories with the same last name are compared. */
const MAX_COMPARED = 1_000;
/** How many candidates a refusal names. */
const MAX_NAMED = 5;

/**
 * Lists the repositories of the sessions whose existence the viewer may know, with the number of all their sessions. It reads the sums
 * of days, so that the cost does not depend on the number of sessions.
 */
export async function listRepositories(db: Db, viewer: Viewer): Promise<Repositories['repositories']> {
  const rows = await allRows(
    db,
    sql<{ value: string; sessions: number | string }>`
      select value, cast(sum(sessions) as bigint) as sessions from usage_days
      where organization_id = ${viewer.organizationId} and dimension = 'repository'
      group by value order by sum(sessions) desc, value limit ${MAX_LISTED}`,
  );
  const values = rows.map(({ value }) => value);
  const isNamed = await findNamedValues(db, viewer, 'repository', values);
  return rows
    .filter(({ value }) => isNamed.has(value))
    .map(({ value, sessions }) => ({ repository: value, sessions: Number(sessions) }));
}

/**
 * Finds the form in which sessions have a repository: lists, rules, holds and filters all use this form. Only the sessions whose
 * existence the viewer may know count: a refusal, or another form than the given one, would tell of the others.
 * @param text the repository in any form: short, with or without `.git`, as an SSH or HTTPS address, in any case
 * @returns undefined if no session has it
 * @throws Problem `validation_failed` if several repositories are called so
 */
export async function findRepository(db: Db, viewer: Viewer, text: string): Promise<string | undefined> {
  const wanted = formOf(text);
  const last = nameOfValue('repository', wanted);
  const rows = await allRows(
    db,
    sql<{ path: string }>`
      select distinct path from session_values
      where organization_id = ${viewer.organizationId} and field = 'repository' and name in (${last}, ${`${last}.git`})
      limit ${MAX_COMPARED}`,
  );
  const all = rows.map(({ path }) => path);
  const values = [...(await findNamedValues(db, viewer, 'repository', all))];
  const exact = values.find((value) => value === text || value === addressOf(text));
  if (exact !== undefined) return exact;
  const whole = values.filter((value) => formOf(value) === wanted);
  const called = whole.length > 0 ? whole : values.filter((value) => formOf(value).endsWith(`/${wanted}`));
  if (called.length > 1) throw ambiguous(text, called);
  return called[0] ?? (await findUnderived(db, viewer, addressOf(text) ?? text));
}

/**
 * The form of a text that names a repository completely, so that a rule or a hold may wait for its first session; otherwise undefined.
 * It is the form of the sessions except for the case of its letters, which rules and holds do not compare, so it also concerns the
 * sessions that are hidden from its author.
 */
export const wholeForm = (text: string): string | undefined => {
  const bare = text.trim().replace(/(?<=.)[/\\]+$/, '');
  const address = addressOf(bare);
  const isWhole = isFolder(bare) || (address !== undefined && hasHost(address) && /^[^/]*\./.test(address));
  return isWhole ? (address ?? bare) : undefined;
};

/** The number of sessions of the repository, hidden ones included; 0 if the viewer may know of none of them. */
export async function countOfRepository(db: Db, viewer: Viewer, repository: string): Promise<number> {
  if (!(await findNamedValues(db, viewer, 'repository', [repository])).has(repository)) return 0;
  const { sessions } = await oneRow(
    db,
    sql<{ sessions: number | string }>`
      select count(*) as sessions from session_values
      join sessions on sessions.session_id = session_values.session_id and sessions.deleted_at is null
      where session_values.organization_id = ${viewer.organizationId} and field = 'repository'
        and name = ${nameOfValue('repository', repository)} and path = ${repository}`,
  );
  return Number(sessions);
}

const formOf = (text: string): string => (addressOf(text) ?? text).toLowerCase().replace(/\/+$/, '');

/** A session that is not derived yet has its repository only if its client reported it. */
async function findUnderived(db: Db, viewer: Viewer, repository: string): Promise<string | undefined> {
  const row = await firstRow(
    db,
    sql<{ repository: string }>`
      select repository from sessions
      where organization_id = ${viewer.organizationId} and repository = ${repository} and deleted_at is null
        and ${named(viewer)}
      limit 1`,
  );
  return row?.repository;
}

function ambiguous(text: string, called: readonly string[]): Problem {
  const names = called.toSorted().slice(0, MAX_NAMED).join(', ');
  const more = called.length > MAX_NAMED ? ` and ${called.length - MAX_NAMED} more` : '';
  return new Problem(
    'validation_failed',
    `Several repositories are called ${text}: ${names}${more}. Write the one that you mean in full.`,
  );
}
