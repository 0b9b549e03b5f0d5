// This file imports nothing, because the first page of the dashboard loads it.

/**
 * What capture does not read, or does not understand, of the sessions on a machine. `isRead`: it is captured as a whole, and
 * only its meaning is not known.
 */
export const GAP_KINDS = {
  ending: { isRead: false, describes: 'transcripts with an ending that no reader knows' },
  table: { isRead: false, describes: 'sessions in a table of a database that no reader knows' },
  folder: { isRead: false, describes: 'transcripts in a further folder of an agent, for instance of another account' },
  agent: { isRead: false, describes: 'files in the folder of an agent that is not supported' },
  unreadable: { isRead: false, describes: 'files and folders that cannot be opened' },
  line: { isRead: false, describes: 'lines that are too long to be captured' },
  record: { isRead: true, describes: 'types of records that no reader knows' },
  field: { isRead: true, describes: 'fields that came with an update of the agent and that no reader knows' },
} as const;
export type GapKind = keyof typeof GAP_KINDS;

/** Each counts files or sessions; a line is a part of a transcript. */
const COUNTS_TRANSCRIPTS: ReadonlySet<string> = new Set<GapKind>(['ending', 'table', 'folder', 'agent', 'unreadable']);

/** How many transcripts are not read. */
export const countNotRead = (gaps: readonly { kind: string; count: number }[]): number =>
  gaps.reduce((sum, { kind, count }) => sum + (COUNTS_TRANSCRIPTS.has(kind) ? count : 0), 0);
