import { address } from '../../contract/client.ts';
import { EXTENSIONS } from '../../contract/extensions.ts';
import { type Line, readLines } from './index-lines.ts';

/** Reads the indexes of sessions. */
export interface IndexReader {
  /** Asks for an index whose page is on its way; nothing of it comes twice. */
  ahead(sessionId: string): void;
  /**
   * The index of a session, as it comes; who stops reading it ends the request.
   * @param from the first sequence
   * @throws Error where the service refuses it
   */
  read(sessionId: string, from: number, signal: AbortSignal): AsyncGenerator<Line>;
}

export function createIndexReader(authorizedFetch: typeof fetch): IndexReader {
  let asked: { sessionId: string; response: Promise<Response>; stop: AbortController } | undefined;

  const ask = (sessionId: string, from: number, signal: AbortSignal) =>
    authorizedFetch(address('', EXTENSIONS.getSessionIndex, { sessionId, query: { from: String(from) } }), { signal });

  function take(sessionId: string, signal: AbortSignal): Promise<Response> | undefined {
    if (asked?.sessionId !== sessionId) return undefined;
    const { response, stop } = asked;
    asked = undefined;
    signal.addEventListener('abort', () => stop.abort());
    return response;
  }

  return {
    ahead(sessionId) {
      asked?.stop.abort();
      const stop = new AbortController();
      const response = ask(sessionId, 1, stop.signal);
      // Whoever reads it is told.
      response.catch(() => {});
      asked = { sessionId, response, stop };
    },
    async *read(sessionId, from, signal) {
      const response = await ((from === 1 && take(sessionId, signal)) || ask(sessionId, from, signal));
      if (!response.ok || !response.body) throw new Error(`The service answered ${response.status}.`);
      yield* readLines(response.body);
    },
  };
}
