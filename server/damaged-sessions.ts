import type { FastifyBaseLogger } from 'fastify';
import { damagedSessionOf } from './log/damaged.ts';

export interface DamagedSessionsOptions {
  log: Pick<FastifyBaseLogger, 'error'>;
  now: () => number;
}

/** How long background work skips a damaged session. An operator may have repaired it meanwhile. */
const SKIPPED_MS = 3_600_000;

/**
 * The sessions whose events this process found damaged. Background work skips them, so that it neither repeats itself nor fills
 * the log. Readers are not affected: they get whatever can be read.
 */
export class DamagedSessions {
  readonly #options: DamagedSessionsOptions;
  /** By id: when background work tries the session again. */
  readonly #skippedUntil = new Map<string, number>();

  constructor(options: DamagedSessionsOptions) {
    this.#options = options;
  }

  /** How many sessions were found damaged since the start. */
  get count(): number {
    return this.#skippedUntil.size;
  }

  /** Whether background work leaves the session alone for now. */
  isSkipped(sessionId: string): boolean {
    return (this.#skippedUntil.get(sessionId) ?? 0) > this.#options.now();
  }

  /**
   * Notes the session that an error is about, and logs it once while it is skipped.
   * @returns false if the error has another reason
   */
  note(error: unknown): boolean {
    const damaged = damagedSessionOf(error);
    if (!damaged) return false;
    const { organizationId, sessionId } = damaged.place;
    if (this.isSkipped(sessionId)) return true;
    this.#skippedUntil.set(sessionId, this.#options.now() + SKIPPED_MS);
    const sentence = `${damaged.message}; background work skips the session for an hour. Other sessions are not affected`;
    this.#options.log.error({ err: damaged, organizationId, sessionId }, sentence);
    return true;
  }
}
