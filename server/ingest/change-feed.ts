import type { FastifyBaseLogger } from 'fastify';
import type { Store } from '../store/open.ts';
import type { SessionRow } from '../store/schema.ts';
import { asService } from '../store/tenant.ts';
import { audienceOf, findAudience } from '../store/viewer.ts';
import { createAudiences } from './audience.ts';
import { createLive, type Live } from './live.ts';
import { createPeers } from './peers.ts';
import type { SessionChanged } from './session-log.ts';

/** The live changes of sessions, for watchers on every replica. */
export interface ChangeFeed {
  /** The streams of this replica. */
  live: Live;
  publish(change: SessionChanged): void;
  /**
   * Tells watchers that other people may see the session from now on. Resolves once the other replicas were notified.
   * @param was the session before the change
   */
  publishAudience(was: SessionRow): Promise<void>;
  /** Ends the streams of a person who left the organization, or of all its members. */
  endStreams(organizationId: string, userId?: string): Promise<void>;
  close(): Promise<void>;
}

export interface ChangeFeedOptions {
  store: Store;
  now: () => number;
  log: Pick<FastifyBaseLogger, 'warn'>;
  onError: (error: unknown) => void;
}

const LISTEN_UNAVAILABLE =
  'changes by other replicas are not shown live, because the pooler at DATABASE_URL does not support LISTEN; set DATABASE_LISTEN_URL to an address without the pooler';

/** The state of a session, as its watchers see it. */
export const changeOf = (row: SessionRow): SessionChanged => ({
  organizationId: row.organization_id,
  sessionId: row.session_id,
  eventCount: row.event_count,
  status: row.status,
});

export function createChangeFeed({ store, now, log, onError }: ChangeFeedOptions): ChangeFeed {
  const audiences = createAudiences(
    (place) => asService(() => findAudience(store.db, place)),
    (error, { organizationId }) => {
      onError(error);
      // Watchers reconnect, and then read only what they may see.
      live.end(organizationId);
    },
    now,
  );
  const live = createLive(now, audiences);
  const peers =
    store.notices &&
    createPeers({
      notices: store.notices,
      onChange: live.publish,
      onAudience: live.publishAudience,
      onLeft: live.end,
      onMissed: live.restart,
      onError,
      onListenUnavailable: () => log.warn(LISTEN_UNAVAILABLE),
    });
  return {
    live,
    publish({ organizationId, sessionId, eventCount, status }) {
      const change = { sessionId, eventCount, status };
      live.publish(organizationId, change);
      peers?.tell(organizationId, change);
    },
    async publishAudience(was) {
      const { organizationId, sessionId, eventCount, status } = changeOf(was);
      // A notice has room for the audience, but not for the texts of a session.
      const told = [organizationId, { sessionId, eventCount, status }, audienceOf(was)] as const;
      live.publishAudience(...told);
      await peers?.tellAudience(...told);
    },
    async endStreams(organizationId, userId) {
      live.end(organizationId, userId);
      await peers?.tellLeft(organizationId, userId);
    },
    async close() {
      await peers?.close();
    },
  };
}
