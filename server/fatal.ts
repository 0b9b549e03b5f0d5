import type { FastifyBaseLogger } from 'fastify';

/** EX_SOFTWARE of sysexits.h: whoever starts the service again can tell it from a wrong configuration. */
const EXIT_CODE = 70;

export interface FatalOptions {
  log: Pick<FastifyBaseLogger, 'fatal'>;
  /** Shows a person what happened. */
  write: (text: string) => void;
  exit: (code: number) => void;
}

/**
 * What to do about an error after which the store cannot be trusted: end at once, without an answer to anybody. Once
 * the disk has failed to take a write, a second attempt may report success for bytes that are gone.
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
