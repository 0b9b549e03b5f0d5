import type { SessionKey } from './decide.ts';

/** Stored data that can no longer be read, although the store answers. All other data can be read as before. */
export class Damaged extends Error {}

/** Damaged events of a session. */
export class DamagedSession extends Damaged {
  readonly place: SessionKey;

  constructor(place: SessionKey, cause: unknown) {
    super(`events of ${place.sessionId} in ${place.organizationId} are damaged in the store`, { cause });
    this.place = place;
  }
}

/** The damaged session that caused the error. */
export function damagedSessionOf(error: unknown): DamagedSession | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof DamagedSession) return cause;
  return undefined;
}

/** Does work on a session's events. If it meets damage, the error names the session. */
export async function naming<Result>(place: SessionKey, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw nameSession(place, error);
  }
}

/** The error itself if it does not report damage. */
export const nameSession = ({ organizationId, sessionId }: SessionKey, error: unknown): unknown =>
  error instanceof Damaged && !(error instanceof DamagedSession)
    ? new DamagedSession({ organizationId, sessionId }, error)
    : error;
