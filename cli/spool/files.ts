import type { DatabaseSync } from 'node:sqlite';
import type { Origin } from '../agents/agent.ts';

/** How far a file was read, and what tells that it is still the same one. */
export interface Cursor {
  offset: number;
  headLength: number;
  head: Uint8Array;
  tail: Uint8Array;
  pass: number;
  /** The latest time met in the file: what its records are interleaved with those of other files by. */
  lastTime: number;
}

export interface FileRow extends Cursor {
  id: number;
  agent: string;
  root: string;
  path: string;
  session: number;
  origin: Origin;
  startedAt: number;
}

export type NewFile = Omit<FileRow, 'id'>;

export function createFiles(db: DatabaseSync) {
  const columns = `id, agent, root, path, session, origin, started_at, last_time, offset, head_length, head, tail, pass`;
  const byPath = db.prepare(`SELECT ${columns} FROM files WHERE agent = ? AND root = ? AND path = ?`);
  const byOrigin = db.prepare(`
    SELECT ${columns} FROM files WHERE session = (SELECT id FROM sessions WHERE agent = ? AND agent_session = ?)`);
  const position = db.prepare('SELECT offset, pass FROM files WHERE id = ?');
  const insert = db.prepare(`
    INSERT INTO files (agent, root, path, session, origin, started_at, last_time, offset, head_length, head, tail, pass)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`);
  const advance = db.prepare(
    'UPDATE files SET offset = ?, head_length = ?, head = ?, tail = ?, pass = ?, last_time = ? WHERE id = ?',
  );
  const move = db.prepare('UPDATE files SET root = ?, path = ? WHERE id = ?');

  return {
    find: (agent: string, root: string, path: string) => toRow(byPath.get(agent, root, path)),
    ofSession: (agent: string, session: string) => byOrigin.all(agent, session).flatMap((row) => toRow(row) ?? []),
    position(id: number): { offset: number; pass: number } | undefined {
      const row = position.get(id);
      return row && { offset: Number(row.offset), pass: Number(row.pass) };
    },
    /** The new file's id; undefined when another process has just added it. */
    insert(file: NewFile): number | undefined {
      const row = insert.get(
        ...[file.agent, file.root, file.path, file.session, JSON.stringify(file.origin), file.startedAt],
        ...[file.lastTime, file.offset, file.headLength, file.head, file.tail, file.pass],
      );
      return row === undefined ? undefined : Number(row.id);
    },
    advance(id: number, cursor: Cursor): void {
      advance.run(cursor.offset, cursor.headLength, cursor.head, cursor.tail, cursor.pass, cursor.lastTime, id);
    },
    move: (id: number, root: string, path: string) => move.run(root, path, id),
  };
}

type Row = ReturnType<ReturnType<DatabaseSync['prepare']>['get']>;

function toRow(row: Row): FileRow | undefined {
  if (row === undefined) return undefined;
  return {
    id: Number(row.id),
    agent: String(row.agent),
    root: String(row.root),
    path: String(row.path),
    session: Number(row.session),
    origin: JSON.parse(String(row.origin)) as Origin,
    startedAt: Number(row.started_at),
    lastTime: Number(row.last_time),
    offset: Number(row.offset),
    headLength: Number(row.head_length),
    head: row.head as Uint8Array,
    tail: row.tail as Uint8Array,
    pass: Number(row.pass),
  };
}
