import type { BulkResult } from '../../contract/capture.ts';
import { compressZstd, decompressZstd } from '../../contract/compression.ts';
import { parseExact } from '../exact.ts';
import { EXIT, Failure } from '../failure.ts';
import { digestEvents } from '../spool/event-digests.ts';
import { Blocked, hasStatus } from './problem.ts';
import type { Append } from './service.ts';

/** The result of a batch: all of it accepted, some of its events refused for good, or an answer about its session. */
export type Outcome =
  | { kind: 'accepted' }
  | { kind: 'refused'; events: RefusedEvent[] }
  | { kind: 'blocked'; problem: string }
  /** `eventCount`: the session's number of events, if that is the reason. */
  | { kind: 'answered'; code: NonNullable<BulkResult['code']>; problem: string; eventCount?: number | undefined };

export interface RefusedEvent {
  /** Its JSON text. */
  event: string;
  problem: string;
}

/** After this many refusals in a row, the cause is not a single event. */
const MAX_IN_A_ROW = 3;

/** The service, or a proxy before it, refuses every request. */
const refusesAll = (problem: string) =>
  new Failure(
    EXIT.failure,
    `The service refuses every event: ${problem}`,
    'Nothing is lost: the events stay in the spool and are retried. A newer version of capture or of the service may help.',
  );

/**
 * Sends appends, and finds the one append or the single events that cause the refusal of all. Calls `onAccepted` when the
 * service accepts something: then the service is not to blame for the refusals. Throws a `Failure` if the service accepts
 * nothing.
 */
export function createAppender(send: (appends: readonly Append[]) => Promise<BulkResult[]>, onAccepted: () => void) {
  let inARow = 0;

  async function append(appends: readonly Append[]): Promise<Outcome[]> {
    try {
      const results = await send(appends);
      if (results.some(({ accepted }) => accepted !== undefined)) {
        inARow = 0;
        onAccepted();
      }
      return await Promise.all(results.map((result, index) => toOutcome(result, appends[index] as Append)));
    } catch (error) {
      if (!(error instanceof Blocked) && !hasStatus(error, 400, 413, 415, 422)) throw error;
      if (appends.length > 1) return sendHalves(appends);
      return [await sendEvents(appends[0] as Append, error)];
    }
  }

  /** The halves are sent one after the other: no event may overtake a refused one of the first half. */
  async function sendHalves(appends: readonly Append[]): Promise<Outcome[]> {
    const middle = Math.ceil(appends.length / 2);
    const first = await append(appends.slice(0, middle));
    return [...first, ...(await append(appends.slice(middle)))];
  }

  async function toOutcome({ accepted, code, error, eventCount }: BulkResult, batch: Append): Promise<Outcome> {
    if (accepted !== undefined) return { kind: 'accepted' };
    const problem = error ?? String(code);
    if (code === 'validation_failed' || code === 'idempotency_key_reused') return sendEvents(batch, new Error(problem));
    return { kind: 'answered', code: code ?? 'internal', problem, eventCount };
  }

  /** Finds the events that cause the refusal of a whole batch. */
  async function sendEvents(batch: Append, error: Error): Promise<Outcome> {
    const halves = halve(batch);
    if (halves === undefined) {
      if (++inARow >= MAX_IN_A_ROW) throw refusesAll(error.message);
      if (error instanceof Blocked) return { kind: 'blocked', problem: error.message };
      const events = readEvents(batch).map((event) => ({ event, problem: error.message }));
      return { kind: 'refused', events };
    }
    const [one] = await append([halves[0]]);
    const [other] = await append([halves[1]]);
    return merge(one as Outcome, other as Outcome);
  }

  return append;
}

/** Merges the outcomes of two halves. The worse one wins; refused events of both are joined. */
function merge(one: Outcome, other: Outcome): Outcome {
  const worse = [one, other].find(({ kind }) => kind === 'answered' || kind === 'blocked');
  if (worse) return worse;
  const events = [one, other].flatMap((outcome) => (outcome.kind === 'refused' ? outcome.events : []));
  return events.length > 0 ? { kind: 'refused', events } : other;
}

/** Splits a refused batch into two halves. Their keys follow from its own. Undefined if there is only one event. */
function halve(batch: Append): [Append, Append] | undefined {
  const events = readEvents(batch);
  if (events.length < 2) return undefined;
  const middle = Math.ceil(events.length / 2);
  // A batch is refused as a whole, so its events may be sent again under other keys. After a crash, the halves and keys come
  // out the same, and the service recognises them.
  const half = (part: string[], name: string): Append => ({ ...withEvents(batch, part), key: `${batch.key}.${name}` });
  return [half(events.slice(0, middle), 'a'), half(events.slice(middle), 'b')];
}

export const withEvents = <Batch extends Pick<Append, 'events' | 'body' | 'digests' | 'marks'>>(
  batch: Batch,
  events: string[],
): Batch => ({
  ...batch,
  events: events.length,
  body: compressZstd(`{"events":[${events.join(',')}]}`),
  ...digestEvents(events),
});

/** The JSON texts of a batch's events. Writing them again gives the same text, whatever numbers are in them. */
export const readEvents = ({ body }: Pick<Append, 'body'>): string[] =>
  (parseExact(decompressZstd(body).toString('utf8')) as { events: unknown[] }).events.map((event) =>
    JSON.stringify(event),
  );
