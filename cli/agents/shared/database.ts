import { parseExact } from '../../exact.ts';
import type { JsonObject } from '../agent.ts';
import type { Query } from '../store.ts';

/** For agents that keep a database. */

/** The tables of a database, which depend on the agent's version. */
export const tablesOf = (query: Query): Set<unknown> =>
  new Set(query("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name));

/** Unfolds the JSON in some columns of a row, with exact numbers. A value that is not JSON stays text. */
export const unfoldColumns = (row: JsonObject, isJson: (column: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, isJson(column) ? parseCell(cell) : cell]));

function parseCell(cell: unknown): unknown {
  if (typeof cell !== 'string') return cell;
  try {
    const value = parseExact(cell);
    return typeof value === 'object' && value !== null ? value : cell;
  } catch {
    return cell;
  }
}

/** The first ancestor of a row in a table with parents. A row without a parent is its own first ancestor. */
export function rootOf(query: Query, table: string, parentColumn: string, id: string): unknown {
  const [root] = query(
    `WITH RECURSIVE up (id, parent, depth) AS (
      SELECT id, ${parentColumn}, 0 FROM ${table} WHERE id = ?
      UNION ALL SELECT t.id, t.${parentColumn}, depth + 1 FROM ${table} t JOIN up ON t.id = up.parent
        WHERE depth < ${MAX_DEPTH}
    ) SELECT id FROM up ORDER BY depth DESC LIMIT 1`,
    id,
  );
  return root?.id;
}

/** Rows could name each other in a circle. */
const MAX_DEPTH = 100;
