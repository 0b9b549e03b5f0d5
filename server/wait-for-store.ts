import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { storeUnavailable } from './store/dialect.ts';
import { isUnreachable } from './store/open.ts';

/** Pause between two attempts to reach the store. */
const AGAIN_MS = 500;

export interface WaitingOptions {
  /** The service answers requests here meanwhile; absent: it answers none. */
  address: { host: string; port: number } | undefined;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * Opens something in the store, and retries as long as the store is unreachable. Meanwhile every request is answered 503. A
 * signal ends the process.
 * @throws for any other error, such as a wrong password
 */
export async function openWhenReachable<Opened>(
  open: () => Promise<Opened>,
  { address, log }: WaitingOptions,
): Promise<Opened> {
  let stop: (() => Promise<void>) | undefined;
  let told: string | undefined;
  try {
    for (;;) {
      try {
        return await open();
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        const { message } = error as Error;
        if (message !== told) log.warn(`the service waits for its store: ${message}`);
        told = message;
      }
      stop ??= await answerUnavailable(address);
      await pause(AGAIN_MS);
    }
  } finally {
    await stop?.();
  }
}

/** Answers like a running service without its store, until the returned function is called. */
async function answerUnavailable(address: WaitingOptions['address']): Promise<() => Promise<void>> {
  const end = () => process.exit(0);
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.on(signal, end);
  const server = createServer((request, response) => {
    const problem = storeUnavailable(undefined);
    // The body is not read, so the connection cannot be reused.
    request.resume();
    response
      .writeHead(problem.status, {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'retry-after': String(problem.retryAfter),
        connection: 'close',
      })
      .end(JSON.stringify(problem.toBody()));
  });
  if (address) await once(server.listen(address), 'listening');
  return async () => {
    for (const signal of signals) process.off(signal, end);
    if (!address) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}
