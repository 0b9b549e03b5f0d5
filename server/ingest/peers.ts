import { randomUUID } from 'node:crypto';
import type { LiveChange } from '../../contract/extensions.ts';
import { MAX_NOTICE, type Notices } from '../store/notices.ts';
import type { Audience } from '../store/viewer.ts';

/** The other processes on the same store. */
export interface Peers {
  /** Notifies them of a change within `TELL_EVERY_MS`. */
  tell(organizationId: string, change: LiveChange): void;
  /** Notifies them at once that the audience of a session changed. Resolves once the notice was sent. */
  tellAudience(organizationId: string, change: LiveChange, was: Audience): Promise<void>;
  /** Notifies them at once that a person, or every member, left the organization. Resolves once the notice was sent. */
  tellLeft(organizationId: string, userId?: string): Promise<void>;
  close(): Promise<void>;
}

export interface PeersOptions {
  notices: Notices;
  /** Called for a change that another process made. */
  onChange: (organizationId: string, change: LiveChange) => void;
  /** Called when another process changed the audience of a session. */
  onAudience: (organizationId: string, change: LiveChange, was: Audience) => void;
  /** Called when a person left the organization, or everybody if `userId` is absent. */
  onLeft: (organizationId: string, userId?: string) => void;
  /** Called when changes may have been missed. */
  onMissed: () => void;
  onError: (error: unknown) => void;
  /** Called when this process did not receive its own notice. */
  onListenUnavailable: () => void;
}

/** Changes are batched this long before the other processes are notified. */
const TELL_EVERY_MS = 50;
/** How many sessions' changes may wait for sending. Watchers of other processes learn of further changes when they poll. */
const MAX_WAITING = 10_000;
/** A process that has not received its own notice within this time receives none at all. */
const ECHO_WITHIN_MS = 5_000;

interface Notice {
  from: string;
  changes: [organizationId: string, change: LiveChange][];
  left?: [organizationId: string, userId?: string];
  audience?: [organizationId: string, change: LiveChange, was: Audience];
}

/** Sends the changes of each process to the others, so that a watcher on any replica sees every change. */
export function createPeers({
  notices,
  onChange,
  onAudience,
  onLeft,
  onMissed,
  onError,
  onListenUnavailable,
}: PeersOptions): Peers {
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
        echo = setTimeout(onListenUnavailable, ECHO_WITHIN_MS).unref();
        void send(packed(me, []));
      },
      onError,
    },
    closing.signal,
  );

  return {
    tell(organizationId, change) {
      if (closing.signal.aborted || waiting.size >= MAX_WAITING) return;
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

/** Packs the changes into as few notices as possible; no changes make one empty notice. */
function packed(from: string, changes: Notice['changes']): string[] {
  const text = JSON.stringify({ from, changes } satisfies Notice);
  if (Buffer.byteLength(text) <= MAX_NOTICE || changes.length <= 1) return [text];
  const half = Math.ceil(changes.length / 2);
  return [...packed(from, changes.slice(0, half)), ...packed(from, changes.slice(half))];
}

/** Ignores a notice of another version that it cannot read. No change is lost, because watchers poll from time to time. */
function readNotice(text: string): Notice | undefined {
  try {
    const notice = JSON.parse(text) as Notice;
    return Array.isArray(notice.changes) ? notice : undefined;
  } catch {
    return undefined;
  }
}
