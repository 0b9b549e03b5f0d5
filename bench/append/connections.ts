import { connect } from 'node:net';

/**
 * A load generator that costs as little as it can, since it shares two cores with the service: requests are bytes made
 * beforehand, and of an answer only status and length are read. Every connection sends its next request when the answer
 * to the last has come.
 */
export interface LoadOptions {
  port: number;
  connections: number;
  seconds: number;
  /** The next request of a connection: its head, and its body. */
  nextRequest: (connection: number) => [string, Buffer];
}

export interface LoadResult {
  requests: number;
  seconds: number;
  /** Answers that were not 2xx. */
  failures: number;
}

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const started = performance.now();
  const until = started + options.seconds * 1000;
  const counts = await Promise.all(
    Array.from({ length: options.connections }, (_, connection) => runConnection(options, connection, until)),
  );
  const seconds = (performance.now() - started) / 1000;
  const sum = (pick: (count: Count) => number) => counts.reduce((total, count) => total + pick(count), 0);
  return { requests: sum((count) => count.requests), failures: sum((count) => count.failures), seconds };
}

interface Count {
  requests: number;
  failures: number;
}

function runConnection({ port, nextRequest }: LoadOptions, connection: number, until: number): Promise<Count> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const count: Count = { requests: 0, failures: 0 };
    let received = '';
    const send = () => {
      const [head, body] = nextRequest(connection);
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    };
    socket.setNoDelay(true);
    socket.once('error', reject);
    socket.once('connect', send);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const length = answerLength(received);
      if (length === undefined || received.length < length) return;
      count.requests++;
      if (received[9] !== '2') count.failures++;
      received = received.slice(length);
      if (performance.now() < until) send();
      else {
        socket.destroy();
        resolve(count);
      }
    });
  });
}

/** Bytes of the answer that starts the text, once its head is complete. */
function answerLength(text: string): number | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const length = /content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1];
  return headEnd + 4 + Number(length ?? 0);
}

/** The head of a POST of that many bytes. */
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
