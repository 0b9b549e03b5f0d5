import type { Problem } from '../../contract/problem.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Db } from './open.ts';
import { type Capture, insertOpened, type Opening, whyNot } from './opening.ts';
import type { SessionRow } from './schema.ts';

/** What became of a session that a client asked for by its key. */
export type Captured =
  | { outcome: 'opened' | 'found'; row: SessionRow }
  | { outcome: 'deleted' }
  | { outcome: 'expired'; eventCount: number; lastEventAt: number }
  | { outcome: 'refused'; problem: Problem };

export type CaptureOpening = Opening & { capture: Capture };

/**
 * Opens the sessions that the client's keys do not find, all in one transaction; in the order in which they are asked for.
 * Whoever asks with the same keys at the same moment gets the same sessions.
 */
export function captureSessions(db: Db, openings: readonly CaptureOpening[], now: number): Promise<Captured[]> {
  return db.transaction().execute(async (transaction) => {
    const answers = new Map<CaptureOpening, Captured>();
    // In one order everywhere, so that two who open the same keys wait for each other and not in a circle.
    const sorted = [...openings].sort((a, b) => (a.capture.clientKey < b.capture.clientKey ? -1 : 1));
    for (const opening of sorted) answers.set(opening, await captureSession(transaction, opening, now));
    return openings.map((opening) => answers.get(opening) as Captured);
  });
}

async function captureSession(db: Db, opening: CaptureOpening, now: number): Promise<Captured> {
  const { organizationId, plane, capture } = opening;
  const known = await findByKey(db, organizationId, plane, capture.clientKey);
  if (known) return known;
  const row = await insertOpened(db, opening, now);
  if (row) return { outcome: 'opened', row };
  const meanwhile = await findByKey(db, organizationId, plane, capture.clientKey);
  return meanwhile ?? { outcome: 'refused', problem: await whyNot(db, opening) };
}

async function findByKey(db: Db, organizationId: string, plane: Plane, key: string): Promise<Captured | undefined> {
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('plane', '=', plane)
    .where('client_key', '=', key)
    .executeTakeFirst();
  if (row?.deleted_at === null) return { outcome: 'found', row };
  const tombstone = await db
    .selectFrom('deleted_sessions')
    .select(['event_count as eventCount', 'last_event_at as lastEventAt'])
    .where('organization_id', '=', organizationId)
    .where('plane', '=', plane)
    .where('client_key', '=', key)
    .executeTakeFirst();
  if (!tombstone) return undefined;
  const { eventCount, lastEventAt } = tombstone;
  return lastEventAt === null ? { outcome: 'deleted' } : { outcome: 'expired', eventCount, lastEventAt };
}
