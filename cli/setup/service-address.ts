import { ServiceError } from '../../contract/client.ts';
import { checkUrl } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { explainRefusal, isTemporary, tellTrouble } from '../upload/problem.ts';
import { createService, NotTheService } from '../upload/service.ts';

/** The time limit of each request of `capture login`. */
export const SIGN_IN_MS = 15_000;
/** A page of the dashboard has three or four parts in its address. */
const MAX_PARTS = 8;

/**
 * The address of the service behind any address, such as a page of its dashboard: the longest prefix at which the service
 * answers. Throws a `Failure` if it answers at none.
 */
export async function findService(context: Pick<Context, 'fetch'>, pasted: string): Promise<string> {
  const { origin, pathname } = new URL(checkUrl(withScheme(pasted.trim())));
  const parts = pathname.split('/').filter(Boolean).slice(0, MAX_PARTS);
  let trouble: unknown;
  for (let count = parts.length; count >= 0; count--) {
    const url = [origin, ...parts.slice(0, count)].join('/');
    try {
      const { client } = createService({ url, secret: '', fetch: context.fetch, timeoutMs: SIGN_IN_MS });
      if ((await client.getHealth({})).body.service === 'session-capture') return url;
    } catch (error) {
      if (isUnreachable(error)) throw unreachable(origin, error, 'Nothing was stored.');
      trouble = error;
    }
  }
  throw new Failure(
    EXIT.failure,
    `Something other than Session Capture answers at ${origin}.`,
    'Paste the address of its dashboard, as the browser shows it. Nothing was stored.',
    trouble,
  );
}

/** People omit the scheme, as in `capture.example.com`. On this machine, the connection is not encrypted. */
const withScheme = (text: string): string =>
  /^\w+:\/\//.test(text) ? text : `${/^(localhost|127\.|\[::1\])/.test(text) ? 'http' : 'https'}://${text}`;

/**
 * A redirect or a missing page proves nothing about the other addresses. From 407 on, the problem is on the way to the
 * service.
 */
const isUnreachable = (error: unknown): boolean =>
  isTemporary(error) && !(error instanceof NotTheService || (error instanceof ServiceError && error.status < 407));

/** Explains a failed request to a person. `soFar` names the state of the command. */
export const explainTrouble = (url: string, error: unknown, soFar: string): unknown =>
  isTemporary(error) ? unreachable(url, error, soFar) : explainRefusal(error, soFar);

function unreachable(url: string, error: unknown, soFar: string): Failure {
  const advice =
    error instanceof ServiceError ? 'Try again later.' : 'Check the address, and check that the service is running.';
  return new Failure(EXIT.temporary, `${tellTrouble(url, error)}.`, `${advice} ${soFar}`, error);
}
