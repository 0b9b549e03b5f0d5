import { address } from '../../contract/client.ts';
import { EXTENSIONS } from '../../contract/extensions.ts';
import { basePath } from '../kit/base-path.ts';
import { type Line, readLines } from './index-lines.ts';

/** Reads the indexes of sessions. */
export interface IndexReader {
  /** Requests an index while the code of its page loads. The next `read` from the start takes this response. */
  ahead(sessionId: string): void;
  /**
   * Yields the index of a session as it arrives. A reader that stops early ends the request.
   * @param from the first sequence
   * @throws Error if the service refuses the request
   */
  read(sessionId: string, from: number, signal: AbortSignal): AsyncGenerator<Line>;
}

export function createIndexReader(authorizedFetch: typeof fetch): IndexReader {
  let asked: { sessionId: string; response: Promise<Response>; stop: AbortController } | undefined;

  const ask = (sessionId: string, from: number, signal: AbortSignal) =>
    authorizedFetch(address(basePath(), EXTENSIONS.getSessionIndex, { sessionId, query: { from: String(from) } }), {
      signal,
    });

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
      // The reader gets the error.
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
