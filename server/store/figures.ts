import { sql } from 'kysely';
import { storable } from './dialect.ts';
import type { Db } from './open.ts';
import type { FiguresRow } from './schema.ts';

/** What is added to a row of the sums by day; each figure may be negative. */
export type FigureChange = Omit<FiguresRow, 'organization_id' | 'plane'>;

const KEY = ['organization_id', 'plane', 'dimension', 'day', 'value', 'model'] as const;
export const FIGURES = [
  'sessions',
  'prompts',
  'tool_calls',
  'failures',
  'input_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'output_tokens',
] as const;

/** Each has 14 parameters, of which SQLite takes 32,766. */
const ROWS_AT_ONCE = 500;

/** Adds to the sums; rows of which nothing is left go. */
export async function addFigures(
  db: Db,
  organizationId: string,
  plane: FiguresRow['plane'],
  changes: readonly FigureChange[],
): Promise<void> {
  const changed = changes.filter((row) => FIGURES.some((name) => row[name] !== 0));
  const named = merge(changed.map((row) => ({ ...row, value: storable(row.value), model: storable(row.model) })));
  const folded = await foldRare(db, organizationId, plane, named);
  // In one order everywhere, so that two who add to the same rows wait for each other and not in a circle.
  const sorted = folded.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  for (let from = 0; from < sorted.length; from += ROWS_AT_ONCE) {
    const rows = sorted.slice(from, from + ROWS_AT_ONCE);
    await db
      .insertInto('figures')
      .values(rows.map((row) => ({ organization_id: organizationId, plane, ...row })))
      .onConflict((conflict) =>
        conflict
          .columns([...KEY])
          .doUpdateSet((row) =>
            Object.fromEntries(
              FIGURES.map((name) => [name, row(row.ref(`figures.${name}`), '+', row.ref(`excluded.${name}`))]),
            ),
          ),
      )
      .execute();
  }
  await removeEmpty(
    db,
    organizationId,
    plane,
    sorted.filter((row) => FIGURES.some((name) => row[name] < 0)),
  );
}

/** Values that a dimension has on a day, at most; the figures of those that come later are kept under the value "". */
export const MOST_VALUES = 10_000;
/** What events name, and so may have any number of values. */
const NAMED = ['repository', 'person', 'model', 'tool'];

async function foldRare(
  db: Db,
  organizationId: string,
  plane: FiguresRow['plane'],
  changes: readonly FigureChange[],
): Promise<readonly FigureChange[]> {
  const named = changes.filter(({ dimension, value }) => NAMED.includes(dimension) && value !== '');
  const rare = new Set<string>();
  for (const rows of Map.groupBy(named, ({ dimension, day }) => `${dimension} ${day}`).values()) {
    const [{ dimension, day }] = rows as [FigureChange];
    const values = [...new Set(rows.map(({ value }) => value))];
    const mine = db
      .selectFrom('figures')
      .select('value')
      .distinct()
      .where('organization_id', '=', organizationId)
      .where('plane', '=', plane)
      .where('dimension', '=', dimension)
      .where('day', '=', day);
    const known = new Set((await mine.where('value', 'in', values).execute()).map(({ value }) => value));
    const added = values.filter((value) => !known.has(value));
    if (added.length === 0) continue;
    const all = await mine.limit(MOST_VALUES).execute();
    // What is taken off and not there under its name was added to the others, though there may be room by now.
    const isTakenOff = (row: FigureChange) => FIGURES.some((name) => row[name] < 0);
    const gone = new Set(rows.filter(isTakenOff).map(({ value }) => value));
    const fresh = added.filter((value) => !gone.has(value));
    const late = [...added.filter((value) => gone.has(value)), ...fresh.slice(MOST_VALUES - all.length)];
    for (const value of late) rare.add(JSON.stringify([dimension, day, value]));
  }
  if (rare.size === 0) return changes;
  return merge(
    changes.map((row) => {
      return rare.has(JSON.stringify([row.dimension, row.day, row.value])) ? { ...row, value: '' } : row;
    }),
  );
}

const keyOf = (row: FigureChange) => JSON.stringify([row.dimension, row.day, row.value, row.model]);

/** One statement takes a row once. */
function merge(rows: readonly FigureChange[]): FigureChange[] {
  const merged = new Map<string, FigureChange>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = merged.get(key);
    if (known) for (const name of FIGURES) known[name] += row[name];
    else merged.set(key, { ...row });
  }
  return [...merged.values()];
}

async function removeEmpty(
  db: Db,
  organizationId: string,
  plane: FiguresRow['plane'],
  rows: readonly FigureChange[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const keys = rows
      .slice(from, from + ROWS_AT_ONCE)
      .map(({ dimension, day, value, model }) => sql`(${dimension}, ${day}, ${value}, ${model})`);
    await db
      .deleteFrom('figures')
      .where('organization_id', '=', organizationId)
      .where('plane', '=', plane)
      // Each is looked up by its key. Of alternatives SQLite would compare every one with every row of the organization.
      .where(sql<boolean>`(dimension, day, value, model) in (values ${sql.join(keys)})`)
      .where((row) => row.and(FIGURES.map((name) => row(name, '=', 0))))
      .execute();
  }
}
