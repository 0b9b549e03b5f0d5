import type { DatabaseSync } from 'node:sqlite';

/**
 * Events that the service has, or that wait to be sent, although the records they came from seem to be new: those of a
 * spool that was made anew. Empty in every other one.
 */
export function createSent(db: DatabaseSync) {
  const any = db.prepare('SELECT 1 FROM sent LIMIT 1');
  const find = db.prepare('SELECT events FROM sent WHERE tag = ?');
  const add = db.prepare(
    'INSERT INTO sent (tag, events) VALUES (?, ?) ON CONFLICT (tag) DO UPDATE SET events = events + excluded.events',
  );
  const take = db.prepare('UPDATE sent SET events = events - ? WHERE tag = ?');
  let isEmpty = any.get() === undefined;

  return {
    /** How many of a record's events are there already. */
    countSent: (tag: Uint8Array): number => (isEmpty ? 0 : Number(find.get(tag)?.events ?? 0)),
    takeSent: (tag: Uint8Array, events: number): void => {
      if (events > 0) take.run(events, tag);
    },
    addSentTag(tag: Uint8Array, events: number): void {
      add.run(tag, events);
      isEmpty = false;
    },
  };
}
