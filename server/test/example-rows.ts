import { sql } from 'kysely';
import { readTables } from '../../script/row-types.ts';
import type {
  DevicePurpose,
  Look,
  Plane,
  Platform,
  ShareAudience,
  ShareLevel,
  Surface,
  ValueField,
} from '../store/column-types.ts';
import { schemaStatements } from '../store/migrate.ts';
import type { Database, Db } from '../store/schema.ts';

const TABLES = new Map(readTables(schemaStatements('sqlite')).map(({ name, columns }) => [name, columns]));

/** A value for each named type of a column. Each other text names its column and its organization, so that it is unique. */
const VALUES: Record<string, unknown> = {
  DevicePurpose: 'capture' satisfies DevicePurpose,
  Look: 'opened' satisfies Look,
  Plane: 'live' satisfies Plane,
  Platform: 'linux' satisfies Platform,
  ShareAudience: 'link' satisfies ShareAudience,
  ShareLevel: 'full' satisfies ShareLevel,
  Surface: 'api' satisfies Surface,
  ValueField: 'file' satisfies ValueField,
  Time: 0,
  number: 0,
  Uint8Array: new Uint8Array(),
};

/** Inserts a row with a value for each column that needs one. Given values without a column in the table are left out. */
export async function insertExample(
  db: Db,
  table: keyof Database,
  given: Record<string, string> & { organization_id: string },
): Promise<void> {
  const columns = (TABLES.get(table) ?? []).filter(
    ({ name, type, hasDefault }) => name in given || !(hasDefault || type.endsWith(' | null')),
  );
  const values = columns.map(
    ({ name, type }) =>
      given[name] ?? VALUES[type] ?? /^'(\w+)'/.exec(type)?.[1] ?? `${name} of ${given.organization_id}`,
  );
  await sql`
    insert into ${sql.table(table)} (${sql.join(columns.map(({ name }) => sql.ref(name)))})
    values (${sql.join(values)})`.execute(db);
}
