import { writeAppends } from '../../contract/appends-body.ts';
import type { BulkResult } from '../../contract/capture.ts';
import { type Client, createClient, type Fetch, REQUEST_TIMEOUT_MS, type Reply } from '../../contract/client.ts';
import type { Batch } from '../spool/batches.ts';
import type { EventDigests } from '../spool/event-digests.ts';
import { VERSION } from '../version.ts';

export interface Service {
  url: string;
  client: Client;
  /** Sends batches of any sessions, each under its key. Answers in the same order. The batches of a session keep their order. */
  append(batches: readonly Append[]): Promise<BulkResult[]>;
}

/** A batch, or a part of one, on its way to a session of the service. */
export interface Append extends EventDigests {
  /** The batch in the spool. */
  batch: Pick<Batch, 'id' | 'session' | 'events'>;
  sessionId: string;
  key: string;
  events: number;
  /** How many events the session should have before this append, as far as that is known. */
  expectedEvents?: number | undefined;
  /** `{"events":[…]}` in a zstd frame. */
  body: Uint8Array;
}

export interface ServiceOptions {
  url: string;
  secret: string;
  fetch: Fetch;
  timeoutMs?: number;
  /** Called at each request. Its signal interrupts the request, which then counts as one that may succeed later. */
  interrupt?: () => AbortSignal;
}

/** The answer is not from the service: a proxy, or the sign-in page of a network. */
export class NotTheService extends Error {}

export function createService({
  url,
  secret,
  fetch,
  timeoutMs = REQUEST_TIMEOUT_MS,
  interrupt,
}: ServiceOptions): Service {
  const base = url.replace(/\/+$/, '');
  const send: Fetch = async (input, init) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    // Following a redirect would turn a POST into a GET.
    const response = await fetch(input, {
      ...init,
      headers: { ...init?.headers, 'user-agent': `capture/${VERSION}` },
      redirect: 'manual',
      signal: interrupt ? AbortSignal.any([timeout, interrupt()]) : timeout,
    });
    if (response.ok && !response.headers.get('content-type')?.includes('json')) {
      await response.body?.cancel();
      throw new NotTheService(`${base} answers, but not as the service does`);
    }
    return response;
  };
  const client = createClient({ baseUrl: base, credential: () => secret || undefined, fetch: send });

  async function append(batches: readonly Append[]): Promise<BulkResult[]> {
    // The spool's frame is sent unchanged, and the service stores it unchanged.
    const appends = batches.map(({ sessionId, expectedEvents, key, body }) => ({
      sessionId,
      expectedEvents,
      idempotencyKey: key,
      frame: body,
    }));
    const { body } = await client.appendBatches({ body: writeAppends(appends) });
    const { results = [] }: { results?: BulkResult[] } = body;
    // A batch leaves the spool only after the service itself confirms it.
    const isConfirmed = batches.every(({ sessionId, key, events }, index) => {
      const result = results[index];
      const isOfBatch = result?.sessionId === sessionId && result.idempotencyKey === key;
      return isOfBatch && (result.accepted === events || typeof result.code === 'string');
    });
    if (!isConfirmed) throw new NotTheService(`${base} answered an append without confirming its events`);
    return results;
  }

  return { url: base, client, append };
}

/** How many milliseconds this machine's clock is ahead of the service's, as far as an answer says. */
export function aheadOf(headers: Reply<unknown>['headers'], now: number): number | undefined {
  const serverTime = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(serverTime) ? undefined : now - serverTime;
}

/** The id in an answer. An answer without one is not from the service. */
export function requireId(id: string | undefined): string {
  if (typeof id !== 'string' || id === '') throw new NotTheService('An answer without an id is not from the service');
  return id;
}
