import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createDigester } from '../../transcript/digester.ts';
import { decodeFrame } from '../log/frame.ts';
import { readAppends } from '../store/events.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import { streamText } from './page.ts';

/** A requested session; `row` is absent if the request is refused. */
export type AskedSession =
  | { sessionId: string; row: SessionRow; from: number }
  | { sessionId: string; row?: undefined; refusal: object };

/** How many characters of payloads a response covers. A single longer payload is still covered. */
const PAGE = 8 * 1024 * 1024;
/**
 * An append that contains requested events may contain others, which are decoded and skipped. No further session is read after
 * this many skipped bytes.
 */
const MAX_SKIPPED = 8 * 1024 * 1024;
/** How much is hashed before other requests are served. Work is counted in characters; this amount takes 2 to 10 ms. */
const WORK_A_TURN = 1024 * 1024;
/** The work for an event in addition to its characters. */
const WORK_AN_EVENT = 512;

/** Streams the digests of the sessions' events, at most `limit` over all sessions. */
export const streamEventDigests = (
  db: Db,
  sessions: readonly AskedSession[],
  limit: number,
  nonce: string,
): Promise<Readable> => streamText(new DigestsWriter(db, nonce, limit).write(sessions));

/** Writes one response, which has room for a limited number of events and characters. The client requests the rest again. */
class DigestsWriter {
  readonly #db: Db;
  readonly #digestPayload: ReturnType<typeof createDigester>['digestPayload'];
  #eventsLeft: number;
  #charactersLeft = PAGE;
  #skipped = 0;
  /** The work since other requests were served last. */
  #work = 0;

  constructor(db: Db, nonce: string, limit: number) {
    this.#db = db;
    this.#digestPayload = createDigester(nonce).digestPayload;
    this.#eventsLeft = limit;
  }

  async *write(sessions: readonly AskedSession[]): AsyncGenerator<string> {
    let separator = '{"results":[';
    for (const session of sessions) {
      yield separator;
      separator = ',';
      if (session.row) yield* this.#writeSession(session.row, session.from);
      else yield JSON.stringify({ sessionId: session.sessionId, ...session.refusal });
    }
    yield ']}';
  }

  async *#writeSession(session: SessionRow, from: number): AsyncGenerator<string> {
    const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = session;
    if (this.#skipped >= MAX_SKIPPED) this.#eventsLeft = 0;
    const to = Math.min(eventCount, from + this.#eventsLeft - 1);
    let next = to + 1;
    let separator = '';
    yield `{"sessionId":${JSON.stringify(sessionId)},"digests":[`;
    read: for await (const append of readAppends(this.#db, organizationId, sessionId, from, to)) {
      for (const [index, { eventType, payload }] of decodeFrame(append).entries()) {
        const sequence = append.first_sequence + index;
        if (sequence < from || sequence > to) {
          this.#skipped += (payload as Buffer).byteLength;
          continue;
        }
        const text = (payload as Buffer).toString('utf8');
        if (this.#charactersLeft < text.length && this.#charactersLeft < PAGE) {
          next = sequence;
          this.#eventsLeft = 0;
          break read;
        }
        this.#charactersLeft -= text.length;
        this.#eventsLeft--;
        yield separator + JSON.stringify({ sequence, eventType, ...this.#digestPayload(text) });
        separator = ',';
        if (this.#isTurnOver(text.length + WORK_AN_EVENT)) await setImmediate();
      }
    }
    yield `],"nextFrom":${next <= eventCount ? next : null}}`;
  }

  /** Whether other requests must be served before this one continues. */
  #isTurnOver(work: number): boolean {
    this.#work += work;
    if (this.#work < WORK_A_TURN) return false;
    this.#work = 0;
    return true;
  }
}
