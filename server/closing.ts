import type { Server } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';

export interface ClosingOptions {
  app: { server: Server; close(): Promise<void> };
  /** What the service rests on, in the order in which to close it. */
  below: readonly { close?(): Promise<void> }[];
  log: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  /** Time for answers under way, in milliseconds. Everything else has half as long after that. */
  deadlineMs?: number;
}

/**
 * Closes the service, then what it rests on. A failure is logged and holds up nothing else.
 * @returns the exit code: 0, or 1 when something failed or did not end in time
 */
export async function closeAll({ app, below, log, deadlineMs = 10_000 }: ClosingOptions): Promise<0 | 1> {
  let code: 0 | 1 = 0;
  const fail = (fields: object, sentence: string) => {
    log.error(fields, sentence);
    code = 1;
  };
  const cut = setTimeout(() => {
    log.warn('some requests did not end in time; their connections are closed');
    app.server.closeAllConnections();
  }, deadlineMs);
  let giveUp: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    giveUp = setTimeout(() => resolve(fail({}, 'closing did not end in time')), deadlineMs * 1.5);
  });

  async function closeInOrder(): Promise<void> {
    for (const part of [app, ...below]) {
      try {
        await part.close?.();
      } catch (error) {
        fail({ err: error }, 'closing failed');
      }
    }
  }

  await Promise.race([closeInOrder(), late]);
  clearTimeout(cut);
  clearTimeout(giveUp);
  return code;
}
