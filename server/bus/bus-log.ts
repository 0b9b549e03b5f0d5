import { newUuid } from '../ids.ts';
import { type NewBatch, type SessionLog, sessionDeleted } from '../ingest/session-log.ts';
import { outcomeOf, type Settled } from '../store/appends.ts';
import { pack } from '../store/codec.ts';
import { decide } from '../store/decision.ts';
import { bytesOf, encodeFrame } from '../store/frame.ts';
import type { Db } from '../store/open.ts';
import { listOpen } from '../store/revocation.ts';
import type { SessionRow } from '../store/schema.ts';
import { alreadyClosed, noSession } from '../store/sessions.ts';
import { sliceOf } from '../work.ts';
import type { Bus } from './bus.ts';
import type { AppendEntry } from './entry.ts';
import { type Known, seen } from './head.ts';
import { createHeads } from './heads.ts';

/** What the log asks of the bus. */
export type LogBus = Pick<
  Bus,
  'publish' | 'next' | 'nextDeadLetter' | 'history' | 'publishParts' | 'isConnected' | 'onForget'
>;

export interface BusLogOptions {
  bus: LogBus;
  db: Db;
  /** What the store alone can decide, such as whether a machine is active. */
  storeLog: SessionLog;
  now: () => number;
  onError: (error: unknown) => void;
}

/** Sessions that one request or job changes on the bus at the same time. */
const CHANGED_AT_ONCE = 50;

/**
 * The session log on an event bus: a session's subject is its log, and a change is durable when the bus has it. Sessions
 * are opened and deleted, and machines revoked, in the store first, and then on their subjects.
 */
export function createBusLog({ bus, db, storeLog, now, onError }: BusLogOptions): SessionLog {
  const heads = createHeads({ bus, db });
  bus.onForget(heads.forget);

  /** So that every replica knows the session without the store; where this fails, they ask the store. */
  async function announce(row: SessionRow): Promise<void> {
    const { plane, client_ended_at: clientEndedAt } = row;
    const entry = { kind: 'opened', plane, clientEndedAt } as const;
    await heads.begin(placeOf(row), { entry }).catch((error) => bus.isConnected() && onError(error));
  }

  /** With what is on its way into the store: its client asks in order to know what it need not send again. */
  async function asNumbered(row: SessionRow): Promise<SessionRow> {
    let { event_count, status } = row;
    await heads.change(placeOf(row), ({ head }) => {
      if (head && head.status !== 'deleted') [event_count, status] = [head.eventCount, head.status];
      return undefined;
    });
    return { ...row, event_count, status };
  }

  async function prepare({ plane, idempotencyKey: key, fingerprint, events, sent }: NewBatch) {
    const { codec, body } = await sliceOf(bytesOf(events), () => pack(encodeFrame(events, sent)));
    const appendId = newUuid();
    const parts = await bus.publishParts(appendId, body);
    const entry: Omit<AppendEntry, 'firstSequence' | 'lastSequence'> = {
      ...{ kind: 'append', plane, key, fingerprint: key === null ? null : fingerprint },
      ...{ appendId, codec, at: now(), parts },
    };
    return { entry, body: parts === 0 ? body : undefined };
  }

  return {
    async open(opening) {
      const row = await storeLog.open(opening);
      await announce(row);
      return row;
    },

    async append(batch) {
      const { organizationId, sessionId, plane, idempotencyKey: key } = batch;
      const { entry, body } = await prepare(batch);
      const { fingerprint, appendId } = entry;
      let settled: Settled = { refused: 'not_found' };
      let deleted = false;
      const propose = (known: Known) => {
        deleted = known.head?.status === 'deleted' && known.head.plane === plane;
        settled = decide(seen(known, plane, key), {
          ...{ count: batch.events.length, fingerprint, expectedEvents: batch.expectedEvents },
        });
        if (!('firstSequence' in settled)) return undefined;
        const { firstSequence, lastSequence, replayed } = settled;
        if (!replayed) {
          return { entry: { ...entry, firstSequence, lastSequence }, body };
        }
        // The bus may say "it is here already" of this very one, when its first answer was lost on the way.
        if (known.keys.get(key ?? '')?.appendId === appendId) settled = { ...settled, replayed: false };
        return undefined;
      };
      await heads.change({ organizationId, sessionId }, propose, key);
      if (deleted && 'refused' in settled) throw sessionDeleted();
      return { ...outcomeOf(settled), async: true };
    },

    async close({ organizationId, plane, sessionId, status, endedAt: given }) {
      const at = now();
      let endedAt = at;
      let refusal: Error | undefined;
      await heads.change({ organizationId, sessionId }, ({ head }) => {
        refusal = undefined;
        if (head?.plane !== plane) refusal = noSession();
        else if (head.status === 'deleted') refusal = sessionDeleted();
        else if (head.status !== 'active') refusal = alreadyClosed();
        if (!head || refusal) return undefined;
        endedAt = given ?? head.clientEndedAt ?? at;
        return { entry: { kind: 'closed', status, endedAt, eventCount: head.eventCount, at } };
      });
      if (refusal) throw refusal;
      return { endedAt };
    },

    async capture(openings) {
      const captured = await storeLog.capture(openings);
      return Promise.all(
        captured.map(async (one) => {
          if (one.outcome === 'opened') await announce(one.row);
          return one.outcome === 'found' ? { ...one, row: await asNumbered(one.row) } : one;
        }),
      );
    },

    async delete(named) {
      const sessionId = await storeLog.delete(named);
      await heads.change({ organizationId: named.organizationId, sessionId }, ({ ended }) =>
        ended === 'deleted' ? undefined : { entry: { kind: 'deleted' } },
      );
      return sessionId;
    },

    async expire(session) {
      let isOver = false;
      // The subject first: it has what is on its way into the store, and where it cannot be told, all stays as it is.
      await heads.change(session, ({ head, ended }) => {
        const isDeleted = ended === 'deleted';
        isOver = isDeleted || head?.eventCount === session.eventCount;
        return isOver && !isDeleted ? { entry: { kind: 'deleted' } } : undefined;
      });
      if (isOver) await storeLog.expire(session);
    },

    revoke: (organizationId, environmentId) => storeLog.revoke(organizationId, environmentId),

    async closeSomeOf(machine, before) {
      const { rows, next } = await listOpen(db, machine, before);
      const at = now();
      for (let start = 0; start < rows.length; start += CHANGED_AT_ONCE) {
        const some = rows.slice(start, start + CHANGED_AT_ONCE);
        await Promise.all(
          some.map((row) =>
            heads.change(placeOf(row), ({ head }) => {
              if (head?.status !== 'active') return undefined;
              const { eventCount } = head;
              return { entry: { kind: 'closed', status: 'failed', endedAt: at, eventCount, at } };
            }),
          ),
        );
      }
      return next;
    },
  };
}

const placeOf = (row: SessionRow) => ({ organizationId: row.organization_id, sessionId: row.session_id });
