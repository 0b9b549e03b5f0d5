import type { DatabaseSync } from 'node:sqlite';
import type { Comparison, MachineState } from '../../contract/environment.ts';

/** Counters beside the events, so that nothing leaves the pipeline unnoticed. */
export const COUNTERS = {
  recordsCaptured: 'records captured',
  recordsRepeated: 'known records that were read again and skipped',
  recordsReplayed: 'records skipped that another session already has (forks)',
  recordsBefore: 'records left out, since they are from before capturing began here',
  recordsUnreadable: 'pieces of transcripts that are not records, captured as text',
  linesTooLong: 'lines too long to be captured',
  secretsMasked: 'secrets masked',
  recordsWithheld: 'records withheld, since masking them failed or took too long; they are in the transcripts only',
  eventsSpooled: 'events spooled',
  eventsKnown: 'events that the service had already, found when this spool first met their sessions',
  eventsSent: 'events acknowledged by the service',
  eventsRefused: 'events refused by the service and set aside',
  sessionsOpened: 'sessions opened',
  sessionsContinued: 'sessions continued in another one, since the first was closed',
} as const;

export type Counter = keyof typeof COUNTERS;

/** Troubles that a person should know of and may be able to fix, for as long as they last. */
export type NoticeKind = Extract<MachineState, 'sending' | 'full' | 'replaced'>;

export interface Notice {
  sentence: string;
  hint?: string | undefined;
}

export function createMeta(db: DatabaseSync) {
  const get = db.prepare('SELECT value FROM spool.meta WHERE name = ?');
  const set = db.prepare(
    'INSERT INTO spool.meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const add = db.prepare(
    'INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value',
  );
  const all = db.prepare('SELECT name, value FROM counters');
  const clear = db.prepare('DELETE FROM spool.meta WHERE name = ?');
  const nameOf = (kind: NoticeKind) => `notice.${kind}`;

  return {
    getMeta: (name: string): string | undefined => get.get(name)?.value as string | undefined,
    setMeta: (name: string, value: string): void => {
      set.run(name, value);
    },
    count: (counter: Counter, by = 1): void => {
      if (by > 0) add.run(counter, by);
    },
    notice(kind: NoticeKind): Notice | undefined {
      const value = get.get(nameOf(kind))?.value;
      return value === undefined ? undefined : (JSON.parse(String(value)) as Notice);
    },
    /** Pass undefined when the trouble is over. */
    setNotice(kind: NoticeKind, notice: Notice | undefined): void {
      if (notice === undefined) clear.run(nameOf(kind));
      else set.run(nameOf(kind), JSON.stringify({ sentence: notice.sentence, hint: notice.hint }));
    },
    /** The last comparison of all transcripts with the service. */
    comparison(): Comparison | undefined {
      const value = get.get('comparison')?.value;
      return value === undefined ? undefined : (JSON.parse(String(value)) as Comparison);
    },
    setComparison: (comparison: Comparison): void => void set.run('comparison', JSON.stringify(comparison)),
    counters(): Record<Counter, number> {
      const counts = Object.fromEntries(Object.keys(COUNTERS).map((name) => [name, 0]));
      for (const { name, value } of all.all()) counts[name as string] = Number(value);
      return counts as Record<Counter, number>;
    },
  };
}
