import { connect } from 'node:net';

/**
 * A load generator with minimal cost, since it shares two cores with the service: requests are prepared bytes, and it reads only
 * the status and length of an answer. Every connection sends its next request after the answer to the last one.
 */
export interface LoadOptions {
  port: number;
  connections: number;
  seconds: number;
  /** Requests a second over all connections; by default as many as the service answers. */
  rate?: number | undefined;
  /** The head and body of the next request of a connection. */
  nextRequest: (connection: number) => [string, Buffer];
}

export interface LoadResult {
  requests: number;
  seconds: number;
  /** Answers that were not 2xx. */
  failures: number;
  /** The time of each request from its scheduled start, in ms. */
  times: number[];
}

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const started = performance.now();
  const until = started + options.seconds * 1000;
  const counts = await Promise.all(
    Array.from({ length: options.connections }, (_, connection) => runConnection(options, connection, until)),
  );
  const seconds = (performance.now() - started) / 1000;
  const sum = (pick: (count: Count) => number) => counts.reduce((total, count) => total + pick(count), 0);
  return {
    requests: sum((count) => count.requests),
    failures: sum((count) => count.failures),
    seconds,
    times: counts.flatMap(({ times }) => times),
  };
}

type Count = Omit<LoadResult, 'seconds'>;

function runConnection(options: LoadOptions, connection: number, until: number): Promise<Count> {
  const { port, nextRequest, connections, rate } = options;
  const interval = rate === undefined ? 0 : (connections / rate) * 1000;
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const count: Count = { requests: 0, failures: 0, times: [] };
    let received = '';
    // Connections take turns. If one is late, the delay of its request counts as well.
    let due = performance.now() + (interval * connection) / connections;
    let since = 0;
    const send = () => {
      const now = performance.now();
      since = interval === 0 || now - due < interval ? now : due;
      due += interval;
      const [head, body] = nextRequest(connection);
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    };
    const setOff = () => {
      const wait = due - performance.now();
      if (interval > 0 && wait > 1) setTimeout(send, wait);
      else send();
    };
    socket.setNoDelay(true);
    socket.once('error', reject);
    socket.once('connect', setOff);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const length = answerLength(received);
      if (length === undefined || received.length < length) return;
      count.requests++;
      count.times.push(performance.now() - since);
      if (received[9] !== '2') count.failures++;
      received = received.slice(length);
      if (performance.now() < until) setOff();
      else {
        socket.destroy();
        resolve(count);
      }
    });
  });
}

/** The length in bytes of the first answer in the text, once its head is complete. */
function answerLength(text: string): number | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const length = /content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1];
  return headEnd + 4 + Number(length ?? 0);
}

/** The head of a POST with a body of that many bytes. */
export function postHead(
  path: string,
  credential: string,
  bytes: number,
  headers: Record<string, string> = {},
): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${credential}`,
    'content-type: application/json',
    `content-length: ${bytes}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
