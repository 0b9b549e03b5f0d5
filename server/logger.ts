import type { Writable } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';

/** Fields that may hold a credential. */
const REDACTED = [
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-service-secret"]',
  'headers.authorization',
  'headers.cookie',
  'headers["x-service-secret"]',
  'err.config',
  'err.parameters',
];

/** The service's log as JSON lines, without credentials. */
export const createLogger = (level: string, destination: DestinationStream): Logger =>
  pino({ level, redact: { paths: REDACTED, censor: '[redacted]' } }, destination);

/** What waits at most for a reader that is slow, in bytes: some thousand lines. */
const MOST_WAITING = 1024 * 1024;

/**
 * Writes log lines to a stream whose reader may be slow or gone. The service never waits for it: lines that find no room
 * are dropped and counted, and a reader that is gone gets nothing more. Pino's own destination tries for ever to write the
 * last lines when the process ends.
 */
export class LogOutput implements DestinationStream {
  readonly #stream: Writable;
  readonly #format: (line: string) => string;
  #isGone = false;
  #dropped = 0;

  /** @param format what becomes of a line, which is JSON */
  constructor(stream: Writable, format = (line: string) => line) {
    this.#stream = stream;
    this.#format = format;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A full disk may have room again.
      if (error.code !== 'ENOSPC') this.#isGone = true;
    });
  }

  write(line: string): void {
    if (this.#isGone) return;
    if (this.#stream.writableLength >= MOST_WAITING) {
      this.#dropped++;
      return;
    }
    if (this.#dropped > 0) {
      const told = { level: 40, time: Date.now(), dropped: this.#dropped, msg: TOO_SLOW };
      this.#dropped = 0;
      this.#stream.write(this.#format(`${JSON.stringify(told)}\n`));
    }
    this.#stream.write(this.#format(line));
  }

  /** Settles when every line is written, when its reader is gone, or when the time is over. */
  async flush(deadlineMs: number): Promise<void> {
    if (this.#isGone || this.#stream.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, deadlineMs);
      // Called behind all lines before it, also with the error of a reader that is gone.
      this.#stream.write('', () => {
        clearTimeout(late);
        resolve();
      });
    });
  }
}

const TOO_SLOW = 'lines of the log were dropped, because its reader is too slow';
