import { sql } from 'kysely';
import { allRows } from './rows.ts';
import type { Db, SessionValueRow } from './schema.ts';
import { named, type Viewer } from './viewer.ts';

type Field = SessionValueRow['field'];

const PATHS: ReadonlySet<Field> = new Set(['file', 'edited', 'repository']);

/** The text by which a value is found: of a file or a repository its last name. */
export const nameOfValue = (field: Field, value: string): string =>
  ((PATHS.has(field) ? value.split(/[/\\]/).findLast((part) => part !== '') : undefined) ?? value).toLowerCase();

/** The columns of a value. */
export const rowOfValue = (field: Field, value: string): Pick<SessionValueRow, 'name' | 'path'> => ({
  name: nameOfValue(field, value),
  path: PATHS.has(field) ? value : '',
});

/**
 * Finds out which of these values the viewer may know: those of a session whose existence they may know. Sums count every session, and
 * a value that only hidden sessions have would tell of them. Each value is looked up until the first such session.
 */
export async function findNamedValues(
  db: Db,
  viewer: Viewer,
  field: Field,
  values: readonly string[],
): Promise<ReadonlySet<string>> {
  if (viewer.seesAll || values.length === 0) return new Set(values);
  const asked = values.map((value) => {
    const { name, path } = rowOfValue(field, value);
    return sql`(${name}, ${path}, ${value})`;
  });
  const rows = await allRows(
    db,
    sql<{ value: string }>`
      with asked (name, path, value) as (values ${sql.join(asked)})
      select value from asked where exists (
        select 1 from session_values
        join sessions on sessions.session_id = session_values.session_id and sessions.deleted_at is null
        where session_values.organization_id = ${viewer.organizationId} and session_values.field = ${field}
          and session_values.name = asked.name and session_values.path = asked.path and ${named(viewer)})`,
  );
  return new Set(rows.map(({ value }) => value));
}
