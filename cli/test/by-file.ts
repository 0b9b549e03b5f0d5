import { hash } from 'node:crypto';
import { isPart } from '../../contract/parts.ts';
import { compareWriting, writingOf } from '../../contract/revision.ts';
import type { Source } from '../../contract/transcript.ts';
import { parseExact } from '../exact.ts';
import type { Spool } from '../spool/open.ts';
import { readEvents } from '../upload/refusals.ts';

/** An event as it was captured; `text` is all of it but where it stood in its file. */
export interface Captured {
  eventType: string;
  payload: { source: Source } & Record<string, unknown>;
  text: string;
}

/** The events in the spool in their order, by agent, session and file. */
export function eventsByFile(spool: Spool): Map<string, Captured[]> {
  const events: Told[] = [];
  for (const session of spool.batches.perSession().map((one) => one.session)) {
    for (const batch of spool.batches.ofSession(session)) {
      events.push(...readEvents(batch).map((event) => parseExact(event) as Told));
    }
  }
  return groupByFile(events);
}

type Told = Omit<Captured, 'text'>;

export function groupByFile(events: readonly Told[]): Map<string, Captured[]> {
  const captured = events.map((event) => {
    const { agent, session, file, position: _, ...source } = event.payload.source;
    const text = JSON.stringify([event.eventType, { ...event.payload, source }]);
    return { key: `${agent} ${session} ${file}`, event: { ...event, text } };
  });
  const grouped = Map.groupBy(captured, ({ key }) => key);
  return new Map([...grouped].map(([key, list]) => [key, list.map(({ event }) => event)]));
}

/** Short, so that a difference is told without megabytes of it. */
export const digestsOf = (events: readonly Captured[] = []): string[] =>
  events.map(
    ({ eventType, payload, text }) => `${payload.source.position} ${eventType} ${hash('sha256', text).slice(0, 12)}`,
  );

/** Without the events of writings that another one has taken the place of. */
export function countedOf(events: readonly Captured[]): Captured[] {
  const counted = new Map<string, { revision: number; index: number }>();
  const kept = new Map<string, Captured[]>();
  const isKept = new Set<Captured>();
  for (const event of events) {
    const writing = writingOf(event.payload.source);
    const key = `${event.payload.source.session} ${writing?.key}`;
    // The second part of a payload is no second writing.
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

/** What counts, in whatever order it came, but for where it stood. */
export const newestOf = (events: readonly Captured[] = []): string[] =>
  countedOf(events)
    .map(({ eventType, text }) => `${eventType} ${hash('sha256', text).slice(0, 12)}`)
    .sort();
