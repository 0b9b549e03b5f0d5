import { Readable } from 'node:stream';
import type { LiveChange } from '../../contract/extensions.ts';
import { Problem } from '../../contract/problem.ts';
import { Recent } from '../recent.ts';
import { type Audience, mayName, type Viewer } from '../store/viewer.ts';
import type { Audiences } from './audience.ts';

/** A viewer who watches an organization, or one session of it. */
export interface Watcher extends Viewer {
  userId: string;
  sessionId?: string | undefined;
  /** Aborted when the watcher goes away. */
  signal: AbortSignal;
  /** When the stream ends at the latest, in milliseconds since the epoch. The watcher reconnects with a new token. */
  until: number;
}

/** Notifies the watchers of an organization of changes to those sessions that they may know of. */
export interface Live {
  publish(organizationId: string, change: LiveChange): void;
  /**
   * Notifies watchers that the audience of a session changed. A watcher who may no longer know of it receives a deletion, just
   * as every route now answers that the session does not exist.
   * @param was the audience before the change
   */
  publishAudience(organizationId: string, change: LiveChange, was: Audience): void;
  /**
   * Opens an event stream and returns its text.
   * @throws Problem `rate_limited` if the person has too many open streams
   */
  watch(watcher: Watcher): Readable;
  /** Ends the streams of a person who left the organization, or of all its members. */
  end(organizationId: string, userId?: string): void;
  /** Ends every stream. The watchers reconnect, and read again what they may have missed. */
  restart(): void;
  /** Ends every stream, including later ones. */
  close(): void;
}

/** How often a comment line is sent, so that proxies do not close a quiet stream. */
const HEARTBEAT_MS = 15_000;
/** How many streams, and thus tabs, one person may have open. */
const MAX_A_PERSON = 30;
/** How many changes may wait for a watcher. A slower watcher is disconnected, and reads everything again on reconnecting. */
const MAX_PENDING = 1_000;
/** How many sessions' last states are kept in memory. Notifications that overtake each other are less than a second apart. */
const MAX_REMEMBERED = 10_000;
/** How long a stream lasts at most. The token and the membership are checked again when the watcher reconnects. */
const MAX_MS = 15 * 60_000;

export function createLive(now: () => number, audiences: Audiences): Live {
  interface Stream extends Watcher {
    tell(change: LiveChange): void;
    end(): void;
  }
  const streams = new Map<string, Set<Stream>>();
  const latestChanges = new Recent<LiveChange>({ max: MAX_REMEMBERED, now });
  let closed = false;

  const watching = (organizationId: string, sessionId: string) =>
    [...(streams.get(organizationId) ?? [])].filter((stream) => (stream.sessionId ?? sessionId) === sessionId);

  /**
   * Restores the order of changes that arrive out of order: the event count never decreases, and a closed or deleted session
   * stays closed or deleted.
   */
  function inOrder(change: LiveChange): LiveChange {
    const before = latestChanges.get(change.sessionId);
    const latest = before ? later(before, change) : change;
    latestChanges.set(change.sessionId, latest, Number.POSITIVE_INFINITY);
    return latest;
  }

  function add(stream: Stream): () => void {
    const ofOrganization = streams.get(stream.organizationId) ?? new Set();
    const mine = [...ofOrganization].filter(({ userId }) => userId === stream.userId);
    if (mine.length >= MAX_A_PERSON) {
      const sentence = `You have ${MAX_A_PERSON} live streams open. Close some tabs, then try again.`;
      throw new Problem('rate_limited', sentence, { retryAfter: 30 });
    }
    streams.set(stream.organizationId, ofOrganization.add(stream));
    return () => {
      ofOrganization.delete(stream);
      if (ofOrganization.size === 0) streams.delete(stream.organizationId);
    };
  }

  function restart(): void {
    for (const stream of [...streams.values()].flatMap((set) => [...set])) stream.end();
  }

  return {
    publish(organizationId, change) {
      const latest = inOrder(change);
      const { sessionId } = latest;
      if (watching(organizationId, sessionId).length === 0) return;
      audiences.ask({ organizationId, sessionId }, (audience) => {
        for (const stream of watching(organizationId, sessionId)) if (mayName(stream, audience)) stream.tell(latest);
      });
    },

    publishAudience(organizationId, change, was) {
      const { sessionId } = change;
      audiences.forget(sessionId);
      const latest = inOrder(change);
      audiences.ask({ organizationId, sessionId }, (audience) => {
        for (const stream of watching(organizationId, sessionId)) {
          if (mayName(stream, audience)) stream.tell(latest);
          else if (mayName(stream, was)) stream.tell({ sessionId, eventCount: 0, status: 'deleted' });
        }
      });
    },

    watch(watcher) {
      // The latest change of each session that waits until the reader is ready.
      const pending = new Map<string, LiveChange>();
      let wanted = false;
      const readable = new Readable({
        read() {
          wanted = true;
          send();
        },
        destroy(error, done) {
          end();
          done(error);
        },
      });

      function send(): void {
        for (const [sessionId, change] of pending) {
          if (!wanted) return;
          pending.delete(sessionId);
          wanted = readable.push(`data: ${JSON.stringify(change)}\n\n`);
        }
      }

      function tell(change: LiveChange): void {
        pending.set(change.sessionId, change);
        send();
        if (pending.size > MAX_PENDING) end();
      }

      function end(): void {
        clearInterval(heartbeat);
        clearTimeout(expiry);
        watcher.signal.removeEventListener('abort', end);
        remove();
        if (!readable.readableEnded && !readable.destroyed) readable.push(null);
      }

      const remove = add({ ...watcher, tell, end });
      const heartbeat = setInterval(() => {
        if (wanted) wanted = readable.push(': still here\n\n');
      }, HEARTBEAT_MS);
      const expiry = setTimeout(end, Math.min(MAX_MS, Math.max(0, watcher.until - now())));
      watcher.signal.addEventListener('abort', end, { once: true });
      readable.push(': connected\n\n');
      if (closed || watcher.signal.aborted) end();
      return readable;
    },

    end(organizationId, userId) {
      for (const stream of [...(streams.get(organizationId) ?? [])]) {
        if (userId === undefined || stream.userId === userId) stream.end();
      }
    },

    restart,

    close() {
      closed = true;
      restart();
    },
  };
}

function later(before: LiveChange, change: LiveChange): LiveChange {
  const eventCount = Math.max(before.eventCount, change.eventCount);
  const isLater = before.status === 'active' || change.status === 'deleted';
  return { ...(isLater ? change : before), eventCount };
}
