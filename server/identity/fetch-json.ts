/** The part of `fetch` that the service needs for a provider. Tests pass their own. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface FetchJsonOptions {
  fetch: Fetch;
  headers?: Record<string, string>;
  timeoutMs?: number;
  /** A longer answer is refused before it is read to its end. */
  maxBytes?: number;
}

const TIMEOUT_MS = 4_000;
const MAX_BYTES = 256 * 1024;

/**
 * Reads one JSON object from a provider, within a time and a size.
 * @throws Error that says what was wrong. Its message is for the log, and repeats nothing of the answer's body
 */
export async function fetchJson(url: string, options: FetchJsonOptions): Promise<Record<string, unknown>> {
  const { fetch, headers = {}, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  // The timeout also covers the body: a provider may send a header at once and then nothing.
  const signal = AbortSignal.timeout(timeoutMs);
  const init: RequestInit = { headers: { accept: 'application/json', ...headers }, redirect: 'error', signal };
  const response = await fetch(url, init);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}`);
  }
  const text = await readText(response, maxBytes, url);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${url} answered something other than a JSON object`);
  }
  return value as Record<string, unknown>;
}

async function readText(response: Response, maxBytes: number, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the stream.
    if (size > maxBytes) throw new Error(`${url} answered more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
