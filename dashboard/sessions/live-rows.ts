import type { LiveChange } from '../../contract/extensions.ts';
import type { SessionSummary } from '../../contract/review.ts';
import type { SessionPages, SessionRow } from '../app/queries.ts';
import { changeRow } from '../shared/live-row.ts';

/** The functions below apply live changes to loaded rows. No row moves. */

export const rowsOf = (data: SessionPages | undefined): SessionRow[] =>
  data?.pages.flatMap((page) => page.sessions) ?? [];

/**
 * @param change the change of one session
 * @param now the time of the change, in epoch milliseconds
 */
export const applyChange = (data: SessionPages, change: LiveChange, now: number): SessionPages =>
  mapRows(data, (row) => (row.session.sessionId === change.sessionId ? changeRow(row, change, now) : row));

export const applySummaries = (data: SessionPages, summaries: ReadonlyMap<string, SessionSummary>): SessionPages =>
  mapRows(data, (row) => {
    const summary = summaries.get(row.session.sessionId);
    return summary ? { ...row, summary } : row;
  });

/** Updates loaded rows from a page that was read again. */
export function applyRows(data: SessionPages, rows: readonly SessionRow[]): SessionPages {
  const byId = new Map(rows.map((row) => [row.session.sessionId, row]));
  return mapRows(data, (row) => byId.get(row.session.sessionId) ?? row);
}

/** Inserts new sessions by their start, which is mostly at the top. */
export function insertRows(data: SessionPages, fresh: readonly SessionRow[]): SessionPages {
  const [first, ...rest] = data.pages;
  if (!first) return data;
  const ids = new Set(rowsOf(data).map(({ session }) => session.sessionId));
  const sessions = [...fresh.filter(({ session }) => !ids.has(session.sessionId)), ...first.sessions];
  sessions.sort(
    ({ session: a }, { session: b }) =>
      b.startedAt.localeCompare(a.startedAt) || b.sessionId.localeCompare(a.sessionId),
  );
  return { ...data, pages: [{ ...first, sessions }, ...rest] };
}

const mapRows = (data: SessionPages, change: (row: SessionRow) => SessionRow | []): SessionPages => ({
  ...data,
  pages: data.pages.map((page) => ({ ...page, sessions: page.sessions.flatMap(change) })),
});
