import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Metrics } from './metrics.ts';

export interface OperationsOptions {
  metrics: Metrics;
  /** @throws if a dependency of the process does not answer */
  ping: () => Promise<void>;
  /** Why the process should receive no requests, in a sentence; undefined if it should. */
  whyNotReady: () => string | undefined;
}

/**
 * Probes and metrics for operators, on a separate port that users cannot reach.
 * `/livez`: whether the process answers. `/readyz`: whether it should receive requests. `/metrics`: the metrics.
 */
export function createOperations({ metrics, ping, whyNotReady }: OperationsOptions): Server {
  const answers: Record<string, (response: ServerResponse) => Promise<void>> = {
    '/livez': async (response) => send(response, 200, 'ok\n'),
    '/readyz': async (response) => {
      const reason = whyNotReady();
      if (reason !== undefined) return send(response, 503, `${reason}\n`);
      const isAnswering = await ping().then(
        () => true,
        () => false,
      );
      send(response, isAnswering ? 200 : 503, isAnswering ? 'ok\n' : 'the store does not answer\n');
    },
    '/metrics': async (response) => {
      const { text, contentType } = await metrics.read();
      send(response, 200, text, contentType);
    },
  };
  return createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
    if (!answer) return send(response, 404, `There is ${Object.keys(answers).join(', ')}.\n`);
    answer(response).catch(() => send(response, 500, 'the figures could not be read\n'));
  });
}

function send(response: ServerResponse, status: number, text: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
}
