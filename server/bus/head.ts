import type { Plane } from '../../contract/secret.ts';
import type { KnownAppend, LogHead } from '../store/decision.ts';
import type { SessionRow } from '../store/schema.ts';
import type { Logged } from './entry.ts';

/** What a session's subject, and what the store has of it, come to. */
export interface Head {
  plane: Plane;
  status: SessionRow['status'] | 'deleted';
  eventCount: number;
  /** When the agent ended it, told at the opening. */
  clientEndedAt: number | null;
}

export interface KnownKey extends KnownAppend {
  appendId: string;
}

/** A session as a replica knows it. */
export interface Known {
  /** Undefined: there is no such session. */
  head: Head | undefined;
  keys: Map<string, KnownKey>;
  /** No other append of the session has a key. */
  hasAllKeys: boolean;
  /** Of the last message of its subject; 0: there is none. */
  sequence: number;
  /** What the subject itself says of its end, and not only the store. */
  ended: 'closed' | 'deleted' | undefined;
}

export const unknown = (): Known => ({
  head: undefined,
  keys: new Map(),
  hasAllKeys: true,
  sequence: 0,
  ended: undefined,
});

/** Takes a message of the session's subject into account. One that the store told of already changes nothing. */
export function take(known: Known, { sequence, entry }: Logged): void {
  known.sequence = sequence;
  const { head } = known;
  if (entry.kind === 'opened') {
    known.head ??= { plane: entry.plane, status: 'active', eventCount: 0, clientEndedAt: entry.clientEndedAt };
  } else if (entry.kind === 'append') {
    const { key, appendId, firstSequence, lastSequence, fingerprint } = entry;
    if (head) head.eventCount = Math.max(head.eventCount, lastSequence);
    if (key !== null) known.keys.set(key, { appendId, firstSequence, lastSequence, fingerprint });
  } else {
    known.ended = entry.kind;
    if (head && head.status !== 'deleted') head.status = entry.kind === 'deleted' ? 'deleted' : entry.status;
  }
}

/** What `decide` is to see of it. A session of the other plane is none. */
export function seen({ head, keys }: Known, plane: Plane, key: string | null) {
  if (head?.plane !== plane) return { known: undefined, head: undefined };
  const asLog: LogHead = { isOpen: head.status === 'active', eventCount: head.eventCount };
  return { known: key === null ? undefined : keys.get(key), head: asLog };
}
