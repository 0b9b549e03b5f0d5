import type { DatabaseSync } from 'node:sqlite';

/**
 * Events that the service has, or that wait to be sent, although the records they came from seem to be new: those of a
 * spool that was made anew. Empty in every other one.
 */
export function createSent(db: DatabaseSync) {
  const any = db.prepare('SELECT 1 FROM sent LIMIT 1');
  const find = db.prepare('SELECT events FROM sent WHERE mark = ?');
  const add = db.prepare(
    'INSERT INTO sent (mark, events) VALUES (?, ?) ON CONFLICT (mark) DO UPDATE SET events = events + excluded.events',
  );
  const take = db.prepare('UPDATE sent SET events = events - ? WHERE mark = ?');
  let isEmpty = any.get() === undefined;

  return {
    /** How many of a record's events are there already. */
    countSent: (mark: Uint8Array): number => (isEmpty ? 0 : Number(find.get(mark)?.events ?? 0)),
    takeSent: (mark: Uint8Array, events: number): void => {
      if (events > 0) take.run(events, mark);
    },
    addSentMark(mark: Uint8Array, events: number): void {
      add.run(mark, events);
      isEmpty = false;
    },
  };
}
