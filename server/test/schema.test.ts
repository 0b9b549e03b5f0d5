import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readTables } from '../../script/row-types.ts';
import { schemaStatements } from '../store/migrate.ts';
import { ENGINES, openTestStore } from './engines.ts';

/** The row types are made from the statements for SQLite. */
const TYPED = readTables(schemaStatements('sqlite'));

test.runIf(ENGINES.includes('postgres'))(
  'the tables of PostgreSQL have the columns, nulls, defaults and keys of the row types',
  async () => {
    const store = await openTestStore('postgres');
    const { rows } = await sql<{ table: string; name: string; nulls: string; preset: boolean; key: number }>`
      select column_info.table_name as table, column_info.column_name as name, is_nullable as nulls,
        column_default is not null or is_identity = 'YES' as preset, coalesce(key.ordinal_position, 0) as key
      from information_schema.columns as column_info
      left join (information_schema.key_column_usage as key
        join information_schema.table_constraints as keys
          on keys.constraint_name = key.constraint_name and keys.constraint_type = 'PRIMARY KEY')
        on key.table_name = column_info.table_name and key.column_name = column_info.column_name
      where column_info.table_schema = current_schema()
      order by column_info.ordinal_position`.execute(store.db);
    for (const { name, columns } of TYPED) {
      const found = rows.filter(({ table }) => table === name);
      expect(found, name).toEqual(
        columns.map((column) => ({
          table: name,
          name: column.name,
          nulls: column.type.endsWith(' | null') ? 'YES' : 'NO',
          preset: column.hasDefault,
          key: column.placeInKey,
        })),
      );
    }
    await store.dispose();
  },
);
