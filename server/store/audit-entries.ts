import type { AuditEntry } from '../../contract/audit.ts';
import { toAuditEntry } from './audit.ts';
import type { AuditEntryRow, Db } from './schema.ts';
import { findHidden, type Viewer } from './viewer.ts';

/** Takes the place of the id of a session whose existence is hidden from the reader. */
const WITHHELD = 'withheld';

/**
 * The entries, as the viewer may read them. The rows keep every id, because the chain of hashes is computed with them: only the
 * answer withholds the ids of sessions that do not exist for the viewer.
 */
export async function entriesFor(db: Db, viewer: Viewer, rows: readonly AuditEntryRow[]): Promise<AuditEntry[]> {
  const entries = rows.map(toAuditEntry);
  const hidden = await findHidden(db, viewer, [...new Set(entries.flatMap(idsIn).filter(isOfSession))]);
  return entries.map((entry) => (idsIn(entry).some((id) => hidden.has(id)) ? withheld(entry, hidden) : entry));
}

const idsIn = ({ target, details = {} }: AuditEntry): string[] => [
  target.id,
  ...Object.values(details).filter((value) => typeof value === 'string'),
];

const isOfSession = (id: string) => id.startsWith('ses_');

function withheld({ target, details, ...entry }: AuditEntry, hidden: ReadonlySet<string>): AuditEntry {
  const shown = <Value>(value: Value) => (hidden.has(String(value)) ? WITHHELD : value);
  return {
    ...entry,
    target: { ...target, id: shown(target.id) },
    ...(details && {
      details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, shown(value)])),
    }),
    withheld: true,
  };
}
