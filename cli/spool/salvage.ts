import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readEvents } from '../upload/refuse.ts';
import { type Batch, isIntact, toBatch } from './batches.ts';

/** What can still be read of a damaged spool. Everything in it is checked, or does no harm if it is wrong. */
export interface Salvage {
  batches: SalvagedBatch[];
  refused: { agent: string; session: string; event: string; problem: string; at: number }[];
  counters: { name: string; value: number }[];
}

export interface SalvagedBatch extends Batch {
  agent: string;
  agentSession: string;
  madeAt: number;
  /** What was known of its session. */
  facts: { agentVersion?: string; title?: string; prompt?: string; cwd?: string; branch?: string };
  /** Whether its records can be had from the transcripts as well. */
  isReadable: boolean;
}

type Row = Record<string, unknown>;

const NOTHING: Salvage = { batches: [], refused: [], counters: [] };

/** Reads what it can; never throws because of the damage. */
export function salvage(path: string): Salvage {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 1000 });
    return salvageFrom(db);
  } catch {
    return NOTHING;
  } finally {
    try {
      db?.close();
    } catch {
      // Its log cannot be put away properly; it stays beside it.
    }
  }
}

function salvageFrom(db: DatabaseSync): Salvage {
  const sessions = new Map(rowsOf(db, 'sessions', 'id').map((row) => [Number(row.id), row]));
  const sessionOf = (row: Row) => sessions.get(Number(row.session));
  const isReadable = findReadable(rowsOf(db, 'files', 'id'));

  const batches = rowsOf(db, 'batches', 'id').flatMap((row) => {
    const batch = toBatch(row);
    const session = sessionOf(row);
    if (!batch || !session || !isIntact(batch, row.checksum)) return [];
    const facts = factsOf(session);
    const name = nameOf(session);
    return [{ ...batch, ...name, facts, madeAt: Number(row.made_at), isReadable: isReadable(name.agent, batch) }];
  });
  const refused = rowsOf(db, 'refused', 'id').flatMap((row) => {
    const session = sessionOf(row);
    if (!session) return [];
    const { agent, agentSession } = nameOf(session);
    const { event, problem, refused_at: at } = row;
    return [{ agent, session: agentSession, event: String(event), problem: String(problem), at: Number(at) }];
  });
  const counters = rowsOf(db, 'counters', undefined).map(({ name, value }) => ({
    name: String(name),
    value: Number(value),
  }));
  return { batches, refused, counters };
}

const nameOf = ({ agent, agent_session: session }: Row) => ({ agent: String(agent), agentSession: String(session) });

function factsOf(session: Row): SalvagedBatch['facts'] {
  const { agent_version: agentVersion, title, prompt, cwd, branch } = session;
  const given = Object.entries({ agentVersion, title, prompt, cwd, branch }).filter(
    ([, value]) => typeof value === 'string',
  );
  return Object.fromEntries(given);
}

/** Whether the files that a batch was made from are still there, in one of the folders where their agent had some. */
function findReadable(files: readonly Row[]): (agent: string, batch: Batch) => boolean {
  const roots = Map.groupBy(files, ({ agent }) => String(agent));
  return (agent, batch) => {
    const folders = new Set(roots.get(agent)?.map(({ root }) => String(root)));
    const has = (file: string) => [...folders].some((folder) => existsSync(join(folder, file)));
    return filesOf(batch).values().every(has);
  };
}

/** A session in a file of many has its name behind that of the file. */
function filesOf(batch: Batch): Set<string> {
  const events = readEvents(batch) as { payload?: { source?: { file?: unknown } } }[];
  return new Set(events.map(({ payload }) => String(payload?.source?.file).split('#')[0] ?? ''));
}

/** In a row this many ids that cannot be read: then there are none any more. */
const MAX_GAP = 5000;

/** A table's rows in the order of their ids, each read for itself, so that one which cannot be read takes no other along. */
function rowsOf(db: DatabaseSync, table: string, key: 'id' | undefined): Row[] {
  if (key === undefined) return attempt(() => db.prepare(`SELECT * FROM ${table}`).all()) ?? [];
  const rows: Row[] = [];
  const after = attempt(() => db.prepare(`SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT 1`));
  const single = attempt(() => db.prepare(`SELECT * FROM ${table} WHERE id = ?`));
  if (!after || !single) return rows;
  const limit = lastId(db, table);
  for (let id = 0, gap = 0; gap < MAX_GAP && id <= limit; ) {
    const found = attempt(() => ({ row: after.get(id) }));
    if (found && found.row === undefined) break;
    const row = found ? found.row : attempt(() => single.get(++id));
    gap = row === undefined ? gap + 1 : 0;
    if (row === undefined) continue;
    rows.push(row);
    id = Math.max(id, Number(row.id) || id + 1);
  }
  return rows;
}

const lastId = (db: DatabaseSync, table: string): number =>
  attempt(() => Number(db.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(table)?.seq)) ||
  attempt(() => Number(db.prepare(`SELECT max(id) AS id FROM ${table}`).get()?.id)) ||
  1_000_000;

function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
