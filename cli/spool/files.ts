import type { DatabaseSync } from 'node:sqlite';
import type { Coverage } from '../../contract/environment.ts';
import type { Origin } from '../agents/agent.ts';

/** How far a transcript was read, and how to recognise that it is still the same one. */
export type Cursor = FileCursor | StoreCursor;

interface Reading {
  /** Increases whenever the transcript is read again from its start. */
  pass: number;
  /**
   * The latest time in the transcript so far, in milliseconds since 1970. It orders its records among those of other
   * transcripts.
   */
  lastTime: number;
}

/** The position in a file that only grows. */
export interface FileCursor extends Reading {
  kind: 'file';
  /** Byte offset. */
  position: number;
  /** Hashes of the first `headLength` bytes, and of the last bytes before the position. */
  headLength: number;
  head: Uint8Array;
  tail: Uint8Array;
}

/** The position in a session of an agent's store. */
export interface StoreCursor extends Reading {
  kind: 'store';
  /** Every change up to this time was read, in milliseconds since 1970. */
  position: number;
  /** The hash of the session's stamp when it was read to its end. */
  stamp: Uint8Array;
}

export interface FileRow {
  id: number;
  agent: string;
  root: string;
  path: string;
  session: number;
  origin: Origin;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Records from before this time were left out, in milliseconds since 1970. */
  leftBefore: number | undefined;
  /** Whether any of its records were captured. Otherwise all that were read were left out, for instance because of a pause. */
  isCaptured: boolean;
  cursor: Cursor;
}

export type NewFile = Omit<FileRow, 'id'>;
type Advanced = Pick<FileRow, 'id' | 'leftBefore' | 'isCaptured'>;

export function createFiles(db: DatabaseSync) {
  const byPath = db.prepare('SELECT * FROM files WHERE agent = ? AND root = ? AND path = ?');
  const byOrigin = db.prepare(`
    SELECT * FROM files WHERE session = (SELECT id FROM sessions WHERE agent = ? AND agent_session = ?)`);
  const position = db.prepare('SELECT offset, pass FROM files WHERE id = ?');
  const insert = db.prepare(`
    INSERT INTO files
      (agent, root, path, session, origin, started_at, last_time, offset, head_length, head, tail, pass, captured)
    VALUES (:agent, :root, :path, :session, :origin, :startedAt, :lastTime, :position, :headLength, :head, :tail, :pass,
      :captured)
    ON CONFLICT DO NOTHING RETURNING id`);
  const advance = db.prepare(`
    UPDATE files SET offset = :position, head_length = :headLength, head = :head, tail = :tail, pass = :pass,
      last_time = :lastTime, left_before = :leftBefore, captured = max(captured, :captured)
    WHERE id = :id`);
  const move = db.prepare('UPDATE files SET root = ?, path = ? WHERE id = ?');
  const stays = 'NOT captured OR session IN (SELECT session FROM kept_back)';
  const keptBack = db.prepare(`SELECT 1 FROM files WHERE id = ? AND (${stays})`);
  const count = db.prepare(`SELECT count(*) AS met, coalesce(sum(${stays}), 0) AS kept FROM files`);

  return {
    find: (agent: string, root: string, path: string) => toRow(byPath.get(agent, root, path)),
    ofSession: (agent: string, session: string) => byOrigin.all(agent, session).flatMap((row) => toRow(row) ?? []),
    position(id: number): { position: number; pass: number } | undefined {
      const row = position.get(id);
      return row && { position: Number(row.offset), pass: Number(row.pass) };
    },
    /** Returns the new file's id. Undefined if another process has just added the file. */
    insert({ agent, root, path, session, origin, startedAt, isCaptured, cursor }: NewFile): number | undefined {
      const known = { agent, root, path, session, origin: JSON.stringify(origin), startedAt };
      const row = insert.get({ ...known, captured: Number(isCaptured), ...toColumns(cursor) });
      return row === undefined ? undefined : Number(row.id);
    },
    advance: ({ id, leftBefore, isCaptured }: Advanced, cursor: Cursor): void =>
      void advance.run({ id, leftBefore: leftBefore ?? null, captured: Number(isCaptured), ...toColumns(cursor) }),
    /** Whether the transcript stays on this machine, by a decision about its session or because all of its records were left out. */
    isKeptBack: (id: number): boolean => keptBack.get(id) !== undefined,
    /** Counts the transcripts that were met, as if all of them had been read to their end. */
    coverage(): Coverage {
      const { met, kept } = count.get() ?? {};
      return { captured: Number(met) - Number(kept), keptBack: Number(kept), waiting: 0 };
    },
    move: (id: number, root: string, path: string) => move.run(root, path, id),
  };
}

const NOTHING = new Uint8Array();

function toColumns({ position, pass, lastTime, ...more }: Cursor) {
  const { headLength, head, tail } = more.kind === 'store' ? { headLength: 0, head: NOTHING, tail: more.stamp } : more;
  return { position, pass, lastTime, headLength, head, tail };
}

function toRow(row: Record<string, unknown> | undefined): FileRow | undefined {
  if (row === undefined) return undefined;
  return {
    id: Number(row.id),
    agent: String(row.agent),
    root: String(row.root),
    path: String(row.path),
    session: Number(row.session),
    origin: JSON.parse(String(row.origin)) as Origin,
    startedAt: Number(row.started_at),
    leftBefore: row.left_before === null ? undefined : Number(row.left_before),
    isCaptured: row.captured === 1,
    cursor: toCursor(row),
  };
}

function toCursor(row: Record<string, unknown>): Cursor {
  const position = Number(row.offset);
  const head = row.head as Uint8Array;
  const tail = row.tail as Uint8Array;
  const reading = { position, pass: Number(row.pass), lastTime: Number(row.last_time) };
  // Hashes are never empty.
  if (head.length === 0) return { kind: 'store', ...reading, stamp: tail };
  return { kind: 'file', ...reading, headLength: Number(row.head_length), head, tail };
}
