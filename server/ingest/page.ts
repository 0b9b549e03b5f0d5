import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Problem } from '../../contract/problem.ts';
import { writeSequence } from '../cursor.ts';
import { eventId } from '../ids.ts';
import { DamagedSession, nameSession } from '../log/damaged.ts';
import { decodeFrame, type FramedEvent } from '../log/frame.ts';
import { toTimestamp } from '../store/columns.ts';
import { readAppends, type StoredAppend } from '../store/events.ts';
import type { Db } from '../store/schema.ts';
import { findSession } from '../store/sessions.ts';
import { asNow } from '../store/tenant.ts';
import { asReadable, findAudience, mayRead, type ReadableSession, type Viewer, viewerNow } from '../store/viewer.ts';

/** How many bytes are gathered before they are written to the socket. */
const CHUNK_BYTES = 64 * 1024;

/** Which events of a session a page contains. */
export interface PageRange {
  from: number;
  limit: number;
  /** The last event that may be shown; absent: the last of the session. */
  last?: number | undefined;
}

/** Returns the text of an event's payload that is shown. */
export type ShowPayload = (eventType: string, payload: Buffer) => Buffer | string;

/** Shows the exact text that was sent. */
export const showAll: ShowPayload = (_eventType, payload) => payload;

/**
 * Streams a page of events as JSON.
 * @param isAllowed called from time to time: false once the events may no longer be read
 */
export const streamEvents = (
  db: Db,
  viewer: Viewer,
  session: ReadableSession,
  range: PageRange,
  show: ShowPayload = showAll,
  isAllowed: () => Promise<boolean> = isReadable(db, viewer, session),
): Promise<Readable> => streamText(textsOf(db, viewer, session, range, show), throttled(isAllowed));

/** How often a stream checks that the viewer may still read the session, in milliseconds. */
const RECHECK_MS = 500;

/**
 * Returns a check that the viewer may still read a session during its transfer. Meanwhile the session may have been hidden, or
 * the viewer may have lost a role or the membership.
 */
export const whileReadable = (db: Db, viewer: Viewer, session: ReadableSession): (() => Promise<void>) =>
  throttled(isReadable(db, viewer, session));

const isReadable = (db: Db, viewer: Viewer, session: ReadableSession) => async () => {
  const { organization_id: organizationId, session_id: sessionId } = session;
  const [now, audience] = await Promise.all([viewerNow(db, viewer), findAudience(db, { organizationId, sessionId })]);
  return now !== undefined && audience !== undefined && mayRead(now, audience);
};

function throttled(isStillAllowed: () => Promise<boolean>): () => Promise<void> {
  let checkedAt = performance.now();
  return async () => {
    if (performance.now() - checkedAt < RECHECK_MS) return;
    checkedAt = performance.now();
    if (!(await isStillAllowed())) throw hiddenMeanwhile();
  };
}

const hiddenMeanwhile = () =>
  new Problem('content_withheld', 'This session was hidden or deleted while it was read. Load it again.');

/** Finds out why events are missing or unreadable: the session was deleted meanwhile, or the store is damaged. */
async function whyUnreadable(db: Db, viewer: Viewer, session: ReadableSession, cause?: unknown): Promise<Problem> {
  const now = await viewerNow(db, viewer);
  const row = now && (await findSession(db, now, session.session_id));
  if (!now || !row || !asReadable(now, row)) return hiddenMeanwhile();
  return new Problem(
    'events_damaged',
    'Some events of this session are damaged in the store. Ask the operator of this service for a backup of them.',
    { cause },
  );
}

/**
 * Writes text while it is produced, so that memory is bounded for any length. The first part is read before this resolves, so
 * that an unavailable store still causes status 503.
 * @param check called before each part; if it throws, the response is cut off
 */
export async function streamText(
  source: AsyncGenerator<Buffer | string>,
  check?: () => Promise<void>,
): Promise<Readable> {
  const chunks = gather(source, check);
  const asAsked = asNow();
  const first = await chunks.next();
  async function* all() {
    for (let next = first; !next.done; next = await asAsked(() => chunks.next())) yield next.value;
  }
  return Readable.from(all(), { objectMode: false });
}

async function* textsOf(
  db: Db,
  viewer: Viewer,
  session: ReadableSession,
  { from, limit, last }: PageRange,
  show: ShowPayload,
): AsyncGenerator<Buffer | string> {
  const { organization_id: organizationId, session_id: sessionId } = session;
  const eventCount = Math.min(session.event_count, last ?? session.event_count);
  const to = Math.min(eventCount, from + limit - 1);
  const toProblem = async (error: unknown) => {
    return error instanceof DamagedSession ? whyUnreadable(db, viewer, session, error) : error;
  };
  yield '{"events":[';
  let separator = '';
  let sent = from - 1;
  for await (const append of readable(readAppends(db, organizationId, sessionId, from, to), toProblem)) {
    if (append.first_sequence > sent + 1) throw await whyUnreadable(db, viewer, session);
    const events = decode(append);
    if (events instanceof Error)
      throw await whyUnreadable(db, viewer, session, nameSession({ organizationId, sessionId }, events));
    for (const event of eventTexts(sessionId, append, events, from, to, show)) {
      yield separator + event.before;
      yield event.payload;
      yield event.after;
      separator = ',';
    }
    sent = append.last_sequence;
  }
  // A complete JSON text would claim that there are no more events, so the response is cut off.
  if (sent < to) throw await whyUnreadable(db, viewer, session);
  const nextCursor = limit > 0 && to < eventCount ? writeSequence(to + 1) : null;
  yield `],"nextCursor":${JSON.stringify(nextCursor)}}`;
}

async function* readable<Item>(items: AsyncIterable<Item>, toProblem: (error: unknown) => Promise<unknown>) {
  try {
    yield* items;
  } catch (error) {
    throw await toProblem(error);
  }
}

function decode(append: StoredAppend): FramedEvent[] | Error {
  try {
    return decodeFrame(append);
  } catch (error) {
    return error as Error;
  }
}

function* eventTexts(
  sessionId: string,
  append: StoredAppend,
  events: FramedEvent[],
  from: number,
  to: number,
  show: ShowPayload,
) {
  const createdAt = toTimestamp(append.created_at);
  for (const [index, { eventType, payload }] of events.entries()) {
    const sequence = append.first_sequence + index;
    if (sequence < from || sequence > to) continue;
    const head = JSON.stringify({ sessionId, eventId: eventId(append.append_id, index), sequence, eventType });
    yield {
      before: `${head.slice(0, -1)},"payload":`,
      payload: show(eventType, payload as Buffer),
      after: `,"createdAt":"${createdAt}"}`,
    };
  }
}

async function* gather(source: AsyncGenerator<Buffer | string>, check?: () => Promise<void>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const text of source) {
    const buffer = typeof text === 'string' ? Buffer.from(text) : text;
    waiting.push(buffer);
    bytes += buffer.byteLength;
    if (bytes < CHUNK_BYTES) continue;
    await check?.();
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
    // A reader that takes or discards every part at once would otherwise delay all other requests until the end.
    await setImmediate();
  }
  await check?.();
  yield Buffer.concat(waiting);
}
