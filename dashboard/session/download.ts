import type { Client } from '../../contract/client.ts';
import type { EventPage, SessionEvent } from '../../contract/event.ts';
import type { Entry } from '../../transcript/entry/entry.ts';
import { joinAround } from '../../transcript/entry/join.ts';
import { resultText } from '../../transcript/entry/output.ts';
import { readEvent, readJoined } from '../../transcript/entry/read.ts';
import { settleTimes } from '../../transcript/entry/times.ts';
import { asObject } from '../../transcript/entry/value.ts';
import { stripAnsi } from '../kit/text/ansi.ts';
import { buildTimeline, type Timeline } from './model/build.ts';
import { type Head, wholeOrSaid } from './model/markdown.ts';

/**
 * All events of a session, one JSON object in each line, after a line about the session. Lines are not joined, since a long
 * session would exceed the longest string of a browser (512 MB in Chromium).
 */
export async function readAllEvents(api: Client, sessionId: string, head: Head): Promise<string[]> {
  const lines = [`${JSON.stringify({ session: { sessionId, ...Object.fromEntries(head) } })}\n`];
  for await (const event of eachEvent(api, sessionId)) lines.push(`${JSON.stringify(event)}\n`);
  return lines;
}

/** At most this many characters of an output are in a file: about 300 lines. */
const MAX_OUTPUT = 20_000;
/** The limit of all outputs together. Browsers limit strings, and a page that is too large to open helps nobody. */
const MAX_OUTPUTS = 32_000_000;

/**
 * The timeline of a session with whole texts, unlike the page's timeline. All outputs together have at most `most` characters.
 */
export async function readWholeTimeline(events: AsyncIterable<SessionEvent>, most = MAX_OUTPUTS): Promise<Timeline> {
  let left = most;
  function withOutput(entry: Entry, payload: unknown): Entry {
    if (entry.kind !== 'result') return entry;
    const output = stripAnsi(resultText(asObject(payload)));
    const text = output.slice(0, Math.min(MAX_OUTPUT, left));
    left -= text.length;
    return { ...entry, preview: wholeOrSaid({ text, length: output.length }) };
  }

  const entries: (Entry | undefined)[] = [];
  for await (const event of events) entries[event.sequence - 1] = withOutput(readEvent(event), event.payload);
  joinAround(entries, 1, entries.length, (first, payload, span) =>
    withOutput(readJoined(first, payload, span), payload),
  );
  return buildTimeline(settleTimes(entries));
}

/** All events of a session, from the first one. */
export const eachEvent = (api: Client, sessionId: string): AsyncGenerator<SessionEvent> =>
  eachOf((query) => api.listSessionEvents({ sessionId, query }));

/** The events of all pages. */
export async function* eachOf(
  read: (query: { limit: string; cursor?: string }) => Promise<{ body: EventPage }>,
): AsyncGenerator<SessionEvent> {
  let cursor: string | undefined;
  do {
    const { events, nextCursor } = (await read({ limit: '999', ...(cursor && { cursor }) })).body;
    yield* events;
    cursor = nextCursor ?? undefined;
  } while (cursor);
}
