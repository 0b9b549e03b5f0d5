import { type IncomingMessage, request as requestPlainly } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { Fetch, FetchInit, FetchReply } from '../contract/client.ts';

/** More than any answer of the service has: the largest page is an eighth of it. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * The part of `fetch` that the client needs, over Node's own HTTP: the built-in one is WebAssembly, and its first use alone keeps
 * 16 MB in a daemon. Proxies, certificates and keep-alive come from Node's global agents.
 *
 * Like `fetch` it throws a `TypeError` whose `cause` has the system's code where the network fails, and the signal's
 * reason where that was aborted. Unlike it, it follows no redirect.
 */
export const fetchPlainly: Fetch = async (address, { method, headers, body, signal } = {}) => {
  const options: RequestOptions = {
    ...{ method: method ?? 'GET' },
    headers: { accept: '*/*', ...headers },
    ...(signal && { signal }),
  };
  const message = await ask(new URL(address), options, body).catch((error: unknown) => {
    throw toNetworkError(error, 'fetch failed', signal);
  });
  return toReply(message, signal);
};

/** Resolves when the head of the answer is there. */
function ask(url: URL, options: RequestOptions, body: FetchInit['body']): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? loadHttps().request : requestPlainly;
    const request = send(url, options);
    // The listener stays: an answer that breaks off also raises an error on the request, which would end the process unheard.
    request.on('error', reject);
    request.on('response', resolve);
    request.end(body);
  });
}

/** Loaded when it is first needed: it takes 20 ms and 7 MB of memory, which `capture --version` and `status` do without. */
const loadHttps = () => process.getBuiltinModule('node:https');

function toReply(message: IncomingMessage, signal: AbortSignal | undefined): FetchReply {
  const status = message.statusCode ?? 0;

  async function text(): Promise<string> {
    const chunks: Buffer[] = [];
    let left = MAX_ANSWER_BYTES;
    try {
      for await (const chunk of message as AsyncIterable<Buffer>) {
        left -= chunk.length;
        if (left < 0) throw new RangeError(TOO_LARGE);
        chunks.push(chunk);
      }
      return new TextDecoder().decode(Buffer.concat(chunks));
    } catch (error) {
      throw toNetworkError(error, 'terminated', signal);
    }
  }

  return {
    status,
    ok: status >= 200 && status < 300,
    headers: { get: (name) => first(message.headers[name.toLowerCase()]) },
    body: { cancel: async () => void message.destroy() },
    text,
    json: async (): Promise<unknown> => JSON.parse(await text()),
  };
}

const TOO_LARGE = `the answer is larger than ${MAX_ANSWER_BYTES} bytes`;

const first = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(', ') : value) ?? null;

/** An error of this program, such as a header that cannot be sent, stays what it is: it is not the network's. */
function toNetworkError(error: unknown, sentence: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  return error instanceof TypeError ? error : new TypeError(sentence, { cause: error });
}
