import type { Server } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';

export interface ClosingOptions {
  app: { server: Server; close(): Promise<void> };
  /** The parts below the service, in the order in which they are closed. */
  below: readonly { close?(): Promise<void> }[];
  log: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  /** Milliseconds for running requests. Everything after that has half as long. */
  deadlineMs?: number;
}

/**
 * Closes the service, then the parts below it. A failure is logged, and the rest is still closed.
 * @returns the exit code: 0, or 1 if something failed or took too long
 */
export async function closeAll({ app, below, log, deadlineMs = 10_000 }: ClosingOptions): Promise<0 | 1> {
  let code: 0 | 1 = 0;
  const fail = (fields: object, sentence: string) => {
    log.error(fields, sentence);
    code = 1;
  };
  const cut = setTimeout(() => {
    log.warn('some requests took too long; closing their connections');
    app.server.closeAllConnections();
  }, deadlineMs);
  let giveUp: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    giveUp = setTimeout(() => resolve(fail({}, 'closing took too long')), deadlineMs * 1.5);
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

/** EX_SOFTWARE of sysexits.h, so that a supervisor can distinguish it from an invalid configuration, which exits with 1. */
const EXIT_CODE = 70;

export interface FatalOptions {
  log: Pick<FastifyBaseLogger, 'fatal'>;
  /** Prints the message for the operator. */
  write: (text: string) => void;
  exit: (code: number) => void;
}

/**
 * Ends the process at once, without another answer, when the store can no longer be trusted. After a failed disk write, a
 * second attempt may report success although the bytes are lost.
 */
export const createFatal =
  ({ log, write, exit }: FatalOptions) =>
  (error: unknown): void => {
    log.fatal({ err: error }, 'the store cannot be trusted any more');
    const reason = error instanceof Error ? error.message : String(error);
    write(
      `The service ended because its store failed for good: ${reason}. Check the disk and the space on it, then start ` +
        'it again. Acknowledged events are stored; clients will send all others again.\n',
    );
    exit(EXIT_CODE);
  };
