import type { AuditParty } from '../../contract/audit.ts';
import type { Plane } from '../../contract/secret.ts';

/** Names a session of an organization. */
export interface SessionKey {
  organizationId: string;
  sessionId: string;
}

/** The state of a session according to its log. */
export interface Head {
  plane: Plane;
  status: 'active' | 'completed' | 'failed' | 'deleted';
  /** How many events have a number. */
  eventCount: number;
  /** When its agent ended it, in epoch milliseconds; null unless the client reported it at the opening. */
  clientEndedAt: number | null;
}

/** An append that was accepted under a key. */
export interface KnownAppend {
  appendId: string;
  /** SHA-256 of the request body in hexadecimal; null without a key, or after a mask. */
  fingerprint: string | null;
  firstSequence: number;
  lastSequence: number;
}

/** The known state of a session when a command arrives. */
export interface Seen {
  /** Undefined: the organization has no such session. */
  head: Head | undefined;
  /** Earlier appends by key; complete for the keys of the given commands. */
  keys: { get(key: string): KnownAppend | undefined };
}

export interface AppendCommand {
  kind: 'append';
  plane: Plane;
  appendId: string;
  key: string | null;
  fingerprint: string | null;
  /** The secret of the sender, if another one opened the session. */
  otherSecretId: string | null;
  /** How many events it adds. */
  count: number;
  /** How many events the session must have before the append; undefined: any number. */
  expectedEvents?: number | undefined;
  /** Epoch milliseconds, as are all times here. */
  at: number;
}

export interface CloseCommand {
  kind: 'close';
  plane: Plane;
  status: 'completed' | 'failed';
  /** Undefined: the time that the client reported at the opening, otherwise now. */
  endedAt?: number | undefined;
  at: number;
}

export type Command =
  | AppendCommand
  | CloseCommand
  /** Closes an abandoned session as failed if it is open and still has `eventCount` events, where that is given. */
  | { kind: 'fail'; eventCount?: number | undefined; at: number }
  /** `by`: the actor in the audit log; absent: the whole organization is deleted together with its audit log. */
  | { kind: 'delete'; by?: AuditParty | undefined; at: number }
  /** Deletes an expired session if it still has `eventCount` events. */
  | { kind: 'expire'; eventCount: number; at: number };

/** An entry of a session's log, which begins with `opened` and ends with `deleted`. */
export type Entry =
  | { kind: 'append'; firstSequence: number; lastSequence: number }
  | { kind: 'closed'; status: 'completed' | 'failed'; endedAt: number; eventCount: number; at: number }
  | { kind: 'deleted'; eventCount: number; isExpired: boolean; by?: AuditParty | undefined };

export type Decision =
  | { entry: Entry }
  | { replayed: KnownAppend }
  | { unchanged: true }
  | {
      refused: 'idempotency_key_reused' | 'not_found' | 'session_already_closed' | 'session_closed' | 'session_deleted';
    }
  | { refused: 'sequence_mismatch'; eventCount: number }
  /** Only journals refuse with this, since a hold is not part of the session's log. */
  | { refused: 'held'; holdId: string };

/**
 * The only rule for adding to a session, on every engine:
 *
 * | command | no session, or of the other plane | active | closed | deleted |
 * | --- | --- | --- | --- | --- |
 * | append | not_found | append; sequence_mismatch | session_closed | session_deleted |
 * | close | not_found | closed | session_already_closed | session_deleted |
 * | fail | unchanged | closed; unchanged | unchanged | unchanged |
 * | delete | not_found | deleted | deleted | unchanged |
 * | expire | unchanged | deleted; unchanged | deleted; unchanged | unchanged |
 *
 * A repeated append with a known key gets the earlier answer as long as the session is not deleted.
 */
export function decide({ head, keys }: Seen, command: Command): Decision {
  switch (command.kind) {
    case 'append':
      return decideAppend(head, keys, command);
    case 'close': {
      if (head?.plane !== command.plane) return { refused: 'not_found' };
      if (head.status === 'deleted') return { refused: 'session_deleted' };
      if (head.status !== 'active') return { refused: 'session_already_closed' };
      const endedAt = command.endedAt ?? head.clientEndedAt ?? command.at;
      return { entry: closed(head, command.status, endedAt, command.at) };
    }
    case 'fail':
      if (head?.status !== 'active' || (command.eventCount ?? head.eventCount) !== head.eventCount) {
        return { unchanged: true };
      }
      return { entry: closed(head, 'failed', command.at, command.at) };
    case 'delete':
      if (!head) return { refused: 'not_found' };
      return head.status === 'deleted'
        ? { unchanged: true }
        : { entry: { kind: 'deleted', eventCount: head.eventCount, isExpired: false, by: command.by } };
    case 'expire':
      if (!head || head.status === 'deleted' || head.eventCount !== command.eventCount) return { unchanged: true };
      return { entry: { kind: 'deleted', eventCount: head.eventCount, isExpired: true } };
  }
}

function decideAppend(head: Head | undefined, keys: Seen['keys'], command: AppendCommand): Decision {
  if (head?.plane !== command.plane) return { refused: 'not_found' };
  if (head.status === 'deleted') return { refused: 'session_deleted' };
  const known = command.key === null ? undefined : keys.get(command.key);
  if (known) {
    // A mask removes the fingerprint. A refusal would tell whoever guesses the masked text that it was another one.
    const isSame = known.fingerprint === null || known.fingerprint === command.fingerprint;
    return isSame ? { replayed: known } : { refused: 'idempotency_key_reused' };
  }
  if (head.status !== 'active') return { refused: 'session_closed' };
  const { eventCount } = head;
  if ((command.expectedEvents ?? eventCount) !== eventCount) return { refused: 'sequence_mismatch', eventCount };
  return { entry: { kind: 'append', firstSequence: eventCount + 1, lastSequence: eventCount + command.count } };
}

const closed = ({ eventCount }: Head, status: 'completed' | 'failed', endedAt: number, at: number): Entry => ({
  kind: 'closed',
  status,
  endedAt,
  eventCount,
  at,
});

type Advance =
  | Pick<Extract<Entry, { kind: 'append' }>, 'kind' | 'lastSequence'>
  | Pick<Extract<Entry, { kind: 'closed' }>, 'kind' | 'status'>
  | { kind: 'deleted' };

/** The state of the session after the entry. */
export function advance(head: Head, entry: Advance): Head {
  if (entry.kind === 'append') return { ...head, eventCount: Math.max(head.eventCount, entry.lastSequence) };
  return { ...head, status: entry.kind === 'deleted' ? 'deleted' : entry.status };
}

/**
 * Decides commands that arrive together: each command sees the entries of the commands before it.
 * @returns the decisions, the head after them, and `added`: the appends that they added, by key
 */
export function decideAll(seen: Seen, commands: readonly Command[]) {
  const added = new Map<string, KnownAppend>();
  const keys: Seen['keys'] = { get: (key) => added.get(key) ?? seen.keys.get(key) };
  let { head } = seen;
  const decisions = commands.map((command): Decision => {
    const decision = decide({ head, keys }, command);
    if (head && 'entry' in decision) {
      head = advance(head, decision.entry);
      if (command.kind === 'append' && decision.entry.kind === 'append' && command.key !== null) {
        added.set(command.key, keyOf(command, decision.entry));
      }
    }
    return decision;
  });
  return { decisions, head, added };
}

const keyOf = (
  { appendId, fingerprint }: AppendCommand,
  { firstSequence, lastSequence }: Extract<Entry, { kind: 'append' }>,
): KnownAppend => ({ appendId, fingerprint, firstSequence, lastSequence });
