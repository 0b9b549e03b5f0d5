import type { FastifyBaseLogger } from 'fastify';

/** EX_SOFTWARE of sysexits.h. A supervisor can tell it from a wrong configuration, which is 1. */
const EXIT_CODE = 70;

export interface FatalOptions {
  log: Pick<FastifyBaseLogger, 'fatal'>;
  /** Tells a person what happened. */
  write: (text: string) => void;
  exit: (code: number) => void;
}

/**
 * Ends the process at once, without answering anybody, after an error that makes the store untrustworthy. Once a disk has
 * failed to write, a second attempt may report success for bytes that are gone.
 */
export const createFatal =
  ({ log, write, exit }: FatalOptions) =>
  (error: unknown): void => {
    log.fatal({ err: error }, 'the store cannot be trusted any more');
    const reason = error instanceof Error ? error.message : String(error);
    write(
      `The service ended because its store failed for good: ${reason}. Check the disk and the space on it, then start ` +
        'it again. What was acknowledged is stored; what was not will be sent again.\n',
    );
    exit(EXIT_CODE);
  };
