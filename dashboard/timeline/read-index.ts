import { address } from '../../contract/client.ts';
import { EXTENSIONS } from '../../contract/extensions.ts';
import { createAuthorizedFetch } from '../api.ts';
import type { App } from '../app.ts';
import { type Line, readLines } from './index-lines.ts';

/**
 * The index of a session, as it comes; who stops reading it ends the request.
 * @param from the first sequence
 * @throws Error where the service refuses it
 */
export async function* readIndex(
  { auth }: Pick<App, 'auth'>,
  sessionId: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<Line> {
  const query = { from: String(from) };
  const url = address('', EXTENSIONS.getSessionIndex, { sessionId, query });
  const response = await createAuthorizedFetch(auth)(url, { signal });
  if (!response.ok || !response.body) throw new Error(`The service answered ${response.status}.`);
  yield* readLines(response.body);
}
