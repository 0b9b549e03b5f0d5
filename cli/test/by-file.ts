import { hash } from 'node:crypto';
import { isPart } from '../../transcript/parts.ts';
import { compareWriting, writingOf } from '../../transcript/revision.ts';
import type { Source } from '../../transcript/vocabulary.ts';
import { parseExact } from '../exact.ts';
import type { Spool } from '../spool/open.ts';
import { readEvents } from '../upload/refusals.ts';

/** A captured event; `text` is all of it except its place in the file. */
export interface Captured {
  eventType: string;
  payload: { source: Source } & Record<string, unknown>;
  text: string;
}

/** The spool's events in order, grouped by agent, session and file. */
export function eventsByFile(spool: Spool): Map<string, Captured[]> {
  const events: Stored[] = [];
  for (const session of spool.batches.perSession().map((one) => one.session)) {
    for (const batch of spool.batches.ofSession(session)) {
      events.push(...readEvents(batch).map((event) => parseExact(event) as Stored));
    }
  }
  return groupByFile(events);
}

type Stored = Omit<Captured, 'text'>;

export function groupByFile(events: readonly Stored[]): Map<string, Captured[]> {
  const captured = events.map((event) => {
    const { agent, session, file, position: _, ...source } = event.payload.source;
    const text = JSON.stringify([event.eventType, { ...event.payload, source }]);
    return { key: `${agent} ${session} ${file}`, event: { ...event, text } };
  });
  const grouped = Map.groupBy(captured, ({ key }) => key);
  return new Map([...grouped].map(([key, list]) => [key, list.map(({ event }) => event)]));
}

/** Short digests, so that a failed comparison does not print megabytes. */
export const digestsOf = (events: readonly Captured[] = []): string[] =>
  events.map(
    ({ eventType, payload, text }) => `${payload.source.position} ${eventType} ${hash('sha256', text).slice(0, 12)}`,
  );

/** Removes the events of superseded revisions. */
export function countedOf(events: readonly Captured[]): Captured[] {
  const counted = new Map<string, { revision: number; index: number }>();
  const kept = new Map<string, Captured[]>();
  const isKept = new Set<Captured>();
  for (const event of events) {
    const writing = writingOf(event.payload.source);
    const key = `${event.payload.source.session} ${writing?.key}`;
    // The second part of a payload is not a second revision.
    const isContinued = isPart(event.payload) && event.payload.part > 1;
    const step = writing && !isContinued ? compareWriting(writing, counted.get(key)) : 'continues';
    if (step === 'history') continue;
    isKept.add(event);
    if (writing === undefined) continue;
    counted.set(key, writing);
    if (step === 'replaces') for (const before of kept.get(key) ?? []) isKept.delete(before);
    kept.set(key, [...(step === 'replaces' ? [] : (kept.get(key) ?? [])), event]);
  }
  return events.filter((event) => isKept.has(event));
}

/** Digests of the events of the latest revisions, independent of their order and place. */
export const newestOf = (events: readonly Captured[] = []): string[] =>
  countedOf(events)
    .map(({ eventType, text }) => `${eventType} ${hash('sha256', text).slice(0, 12)}`)
    .sort();
