import { type Client, createClient, type Fetch, ServiceError } from '../../contract/client.ts';
import type { Appended } from '../../contract/event.ts';
import type { ProblemBody } from '../../contract/problem.ts';
import { VERSION } from '../version.ts';

export interface Service {
  url: string;
  client: Client;
  /** Sends the exact bytes under their key. */
  append(sessionId: string, bytes: AppendBytes): Promise<Appended>;
}

export interface AppendBytes {
  key: string;
  events: number;
  encoding: string;
  body: Uint8Array;
}

export interface ServiceOptions {
  url: string;
  secret: string;
  fetch: Fetch;
  timeoutMs?: number;
  /** What ends a request that is under way, asked for at each. It is one that may succeed later. */
  interrupt?: () => AbortSignal;
}

/** Something answered that is not the service: a proxy, a sign-in page of a network. */
export class NotTheService extends Error {}

const TIMEOUT_MS = 60_000;

export function createService({ url, secret, fetch, timeoutMs = TIMEOUT_MS, interrupt }: ServiceOptions): Service {
  const base = url.replace(/\/+$/, '');
  const send: Fetch = async (input, init) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    // Followed, a redirect would turn a POST into a GET.
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
  const client = createClient({ baseUrl: base, credential: () => secret, fetch: send });

  async function append(sessionId: string, { key, events, encoding, body }: AppendBytes): Promise<Appended> {
    const response = await send(`${base}/v1/sessions/${encodeURIComponent(sessionId)}/events`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        ...(encoding !== 'identity' && { 'content-encoding': encoding }),
        'idempotency-key': key,
      },
      body: body as Uint8Array<ArrayBuffer>,
    });
    const text = await response.text();
    if (!response.ok)
      throw new ServiceError(response.status, parseBody(text) as Partial<ProblemBody>, response.headers);
    const appended = parseBody(text) as Partial<Appended>;
    // Only the service's own word makes a batch leave the spool.
    if (appended.sessionId !== sessionId || appended.accepted !== events) {
      throw new NotTheService(`${base} answered ${response.status} to an append, but did not confirm its events`);
    }
    return appended as Appended;
  }

  return { url: base, client, append };
}

/** An id out of an answer. Whatever answers without one is not the service. */
export function requireId(id: string | undefined): string {
  if (typeof id !== 'string' || id === '') throw new NotTheService('An answer without an id is not from the service');
  return id;
}

function parseBody(text: string): object {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}
