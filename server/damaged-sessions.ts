import type { FastifyBaseLogger } from 'fastify';
import { damagedSessionOf } from './log/damaged.ts';
import { Recent } from './recent.ts';

export interface DamagedSessionsOptions {
  log: Pick<FastifyBaseLogger, 'error'>;
  now: () => number;
}

/** How long background work skips a damaged session. An operator may have repaired it meanwhile. */
const SKIPPED_MS = 3_600_000;
/** The most damaged sessions that are counted, at about 100 bytes each. */
const MAX_KEPT = 100_000;

/**
 * The sessions whose events this process found damaged. Background work skips them, so that it neither repeats itself nor fills
 * the log. Readers are not affected: they get whatever can be read.
 */
export class DamagedSessions {
  readonly #options: DamagedSessionsOptions;
  /** The damaged sessions, valid as long as background work skips them. */
  readonly #found: Recent<true>;

  constructor(options: DamagedSessionsOptions) {
    this.#options = options;
    this.#found = new Recent({ max: MAX_KEPT, now: options.now });
  }

  /** How many sessions were found damaged since the start. */
  get count(): number {
    return this.#found.size;
  }

  /** Whether background work leaves the session alone for now. */
  isSkipped(sessionId: string): boolean {
    return this.#found.get(sessionId) !== undefined;
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
    this.#found.set(sessionId, true, SKIPPED_MS);
    const sentence = `${damaged.message}; background work skips the session for an hour. Other sessions are not affected`;
    this.#options.log.error({ err: damaged, organizationId, sessionId }, sentence);
    return true;
  }

  /** Logs an error of background work. */
  report(error: unknown): void {
    const all: unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const err of all) if (!this.note(err)) this.#options.log.error({ err }, 'background work failed');
  }
}
