import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createDigester } from '../../contract/digester.ts';
import { decodeFrame } from '../log/frame.ts';
import { readAppends } from '../store/events.ts';
import type { Db } from '../store/open.ts';
import type { SessionRow } from '../store/schema.ts';
import { streamPieces } from './page.ts';

export interface Range {
  /** First sequence. */
  from: number;
  /** How many events. */
  limit: number;
}

/** Characters of payloads that a page of events covers, unless a single one has more. */
const PAGE = 8 * 1024 * 1024;
/** Work is counted in characters hashed; so many take 2 to 10 ms. */
const WORK_A_TURN = 1024 * 1024;
/** What an event costs beside its characters. */
const WORK_AN_EVENT = 512;

/** A page of events by their digests, written piece by piece. */
export const streamEventDigests = (db: Db, session: SessionRow, range: Range, nonce: string): Promise<Readable> =>
  streamPieces(writePage(db, session, range, nonce));

async function* writePage(db: Db, session: SessionRow, { from, limit }: Range, nonce: string): AsyncGenerator<string> {
  const { digestPayload } = createDigester(nonce);
  const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = session;
  const to = Math.min(eventCount, from + limit - 1);
  let next = to + 1;
  let left = PAGE;
  let work = 0;
  let separator = '';
  yield '{"digests":[';
  read: for await (const append of readAppends(db, organizationId, sessionId, from, to)) {
    for (const [index, { eventType, payload }] of decodeFrame(append).entries()) {
      const sequence = append.first_sequence + index;
      if (sequence < from || sequence > to) continue;
      const text = (payload as Buffer).toString('utf8');
      if (left < text.length && left < PAGE) {
        next = sequence;
        break read;
      }
      left -= text.length;
      yield separator + JSON.stringify({ sequence, eventType, ...digestPayload(text) });
      separator = ',';
      work += text.length + WORK_AN_EVENT;
      if (work < WORK_A_TURN) continue;
      work = 0;
      // Lets others be answered.
      await setImmediate();
    }
  }
  yield `],"nextFrom":${next <= eventCount ? next : null}}`;
}
