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

/** The most bytes that wait for a slow reader: some thousand lines. */
const MAX_WAITING = 1024 * 1024;

/**
 * Writes log lines to a stream whose reader may be slow or gone. The service never waits for it. Lines that do not fit are
 * dropped and counted, and a reader that is gone gets nothing more. Pino's own destination would try forever to write the last
 * lines when the process ends.
 */
export class LogOutput implements DestinationStream {
  readonly #stream: Writable;
  readonly #format: (line: string) => string;
  #isGone = false;
  #dropped = 0;

  /** @param format turns a line of JSON into the text to write */
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
    if (this.#stream.writableLength >= MAX_WAITING) {
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

  /** Settles when every line is written, the reader is gone, or the deadline has passed. */
  async flush(deadlineMs: number): Promise<void> {
    if (this.#isGone || this.#stream.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, deadlineMs);
      // The stream calls this after all lines before it, also with an error if the reader is gone.
      this.#stream.write('', () => {
        clearTimeout(late);
        resolve();
      });
    });
  }
}

const TOO_SLOW = 'lines of the log were dropped, because its reader is too slow';
