import { type IncomingMessage, request as requestPlainly } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { Fetch, FetchInit, FetchReply } from '../contract/client.ts';

/** No answer of the service is larger: the largest page is an eighth of it. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * The part of `fetch` that the client needs, on Node's own HTTP. The built-in `fetch` is WebAssembly, and its first use alone
 * keeps 16 MB in a daemon. Proxies, certificates and keep-alive come from Node's global agents.
 * Like `fetch`, it throws a `TypeError` on a network failure, with the system's code in `cause`, and the signal's reason on
 * an abort. Unlike `fetch`, it follows no redirect.
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

/** Resolves when the head of the answer has arrived. */
function ask(url: URL, options: RequestOptions, body: FetchInit['body']): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? loadHttps().request : requestPlainly;
    const request = send(url, options);
    // The listener stays. A broken answer also raises an error on the request, and without a listener that would end the
    // process.
    request.on('error', reject);
    request.on('response', resolve);
    request.end(body);
  });
}

/** Loaded on first need. It takes 20 ms and 7 MB of memory, which `capture --version` and `status` do without. */
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

/** An error of this program, such as an invalid header, stays unchanged: it is not a network error. */
function toNetworkError(error: unknown, sentence: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  return error instanceof TypeError ? error : new TypeError(sentence, { cause: error });
}
