import type { SessionEvent } from '../../contract/event.ts';
import type { Context } from '../context.ts';
import { parseExact } from '../exact.ts';
import { explainRefusal, hasStatus, isTemporary } from '../upload/problem.ts';
import { createRetry } from '../upload/retry.ts';
import { createService } from '../upload/service.ts';

const PAGE = '200';
/** How long a page is asked for again, while the service does not answer. */
const PATIENCE_MS = 30_000;

/** Reads the events of sessions as the person who signed in on this machine. */
export function createSessionReader(context: Context, url: string, token: string) {
  // Numbers keep all their digits.
  const fetch: Context['fetch'] = async (address, init) => {
    const reply = await context.fetch(address, init);
    return { ...reply, json: async () => parseExact(await reply.text()) };
  };
  const { client } = createService({ url, secret: token, fetch });

  /** Undefined if the service has no such session, or shows its content to this person no more. */
  return async (sessionId: string): Promise<SessionEvent[] | undefined> => {
    const signal = AbortSignal.any([context.stop, AbortSignal.timeout(PATIENCE_MS)]);
    const retry = createRetry({ random: context.random, signal });
    const events: SessionEvent[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      try {
        const { body } = await retry.attempt(() => client.listSessionEvents({ sessionId, query }));
        events.push(...body.events);
        cursor = body.nextCursor ?? undefined;
      } catch (error) {
        if (hasStatus(error, 404) || hasStatus(error, 403)) return undefined;
        throw isTemporary(error) ? error : explainRefusal(error);
      }
    } while (cursor !== undefined);
    return events;
  };
}
