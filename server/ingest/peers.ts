import { randomUUID } from 'node:crypto';
import type { LiveChange } from '../../contract/extensions.ts';
import { LONGEST_NOTICE, type Notices } from '../store/notices.ts';
import type { Audience } from '../store/viewer.ts';

/** The other processes on the same store. */
export interface Peers {
  /** Tells them of a change, within `TELL_EVERY_MS`. */
  tell(organizationId: string, change: LiveChange): void;
  /** Notifies them at once that others may see a session from now on. Resolves once it was sent. */
  tellAudience(organizationId: string, change: LiveChange, was: Audience): Promise<void>;
  /** Notifies them at once that a person, or every member, left the organization. Resolves once it was sent. */
  tellLeft(organizationId: string, userId?: string): Promise<void>;
  close(): Promise<void>;
}

export interface PeersOptions {
  notices: Notices;
  /** Told of a change that another process made. */
  onChange: (organizationId: string, change: LiveChange) => void;
  /** Told that others may see a session, which another process changed. */
  onAudience: (organizationId: string, change: LiveChange, was: Audience) => void;
  /** Told that a person, or without one everybody, left the organization. */
  onLeft: (organizationId: string, userId?: string) => void;
  /** Changes may have been missed. */
  onMissed: () => void;
  onError: (error: unknown) => void;
  /** This process did not receive its own notices. */
  onDeaf: () => void;
}

/** Changes are batched this long before the other processes are notified. */
const TELL_EVERY_MS = 50;
/** Sessions whose change waits to be told; beyond, watchers elsewhere learn of them when they look again. */
const MOST_WAITING = 10_000;
/** A process that has not heard its own notice after this time hears none. */
const ECHO_WITHIN_MS = 5_000;

interface Notice {
  from: string;
  changes: [organizationId: string, change: LiveChange][];
  left?: [organizationId: string, userId?: string];
  audience?: [organizationId: string, change: LiveChange, was: Audience];
}

/** Tells each process's changes to the others, so that a watcher sees every change on any replica. */
export function createPeers({ notices, onChange, onAudience, onLeft, onMissed, onError, onDeaf }: PeersOptions): Peers {
  const me = randomUUID();
  const closing = new AbortController();
  const waiting = new Map<string, [string, LiveChange]>();
  let telling = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let echo: NodeJS.Timeout | undefined;
  let hasListened = false;

  const send = (texts: readonly string[]): Promise<void> => {
    telling = telling.then(() => notices.tell(texts)).catch(onError);
    return telling;
  };

  function flush(): void {
    timer = undefined;
    const changes = [...waiting.values()];
    waiting.clear();
    void send(packed(me, changes));
  }

  const listening = notices.listen(
    {
      onNotice(text) {
        const notice = readNotice(text);
        if (!notice) return;
        if (notice.from === me) {
          clearTimeout(echo);
          return;
        }
        for (const [organizationId, change] of notice.changes) onChange(organizationId, change);
        if (Array.isArray(notice.left)) onLeft(...notice.left);
        if (Array.isArray(notice.audience)) onAudience(...notice.audience);
      },
      onListening() {
        if (hasListened) onMissed();
        hasListened = true;
        clearTimeout(echo);
        echo = setTimeout(onDeaf, ECHO_WITHIN_MS).unref();
        void send(packed(me, []));
      },
      onError,
    },
    closing.signal,
  );

  return {
    tell(organizationId, change) {
      if (closing.signal.aborted || waiting.size >= MOST_WAITING) return;
      waiting.set(change.sessionId, [organizationId, change]);
      timer ??= setTimeout(flush, TELL_EVERY_MS);
    },
    tellLeft(organizationId, userId) {
      const left: Notice['left'] = userId === undefined ? [organizationId] : [organizationId, userId];
      return send([JSON.stringify({ from: me, changes: [], left } satisfies Notice)]);
    },
    tellAudience(...audience) {
      return send([JSON.stringify({ from: me, changes: [], audience } satisfies Notice)]);
    },
    async close() {
      clearTimeout(timer);
      clearTimeout(echo);
      closing.abort();
      await Promise.all([telling, listening]);
    },
  };
}

/** As few notices as hold the changes; one of none where there are none. */
function packed(from: string, changes: Notice['changes']): string[] {
  const text = JSON.stringify({ from, changes } satisfies Notice);
  if (Buffer.byteLength(text) <= LONGEST_NOTICE || changes.length <= 1) return [text];
  const half = Math.ceil(changes.length / 2);
  return [...packed(from, changes.slice(0, half)), ...packed(from, changes.slice(half))];
}

/** A notice of another version may not be understood. It is not needed: watchers look again from time to time. */
function readNotice(text: string): Notice | undefined {
  try {
    const notice = JSON.parse(text) as Notice;
    return Array.isArray(notice.changes) ? notice : undefined;
  } catch {
    return undefined;
  }
}
