import type { BulkResult, CapturedSession, CaptureResult } from '../../contract/capture.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { SentFrame } from '../http/body.ts';
import type { Handlers } from '../http/handler.ts';
import type { SecretCaller } from '../http/secret-lookup.ts';
import type { ReadAppend, RefusedAppend } from '../ingest/scan/read.ts';
import { SequenceMismatch } from '../log/outcome.ts';
import { secret } from '../store/audit-chain.ts';
import { fromTimestamp, optional, toTimestamp } from '../store/columns.ts';
import { storeUnavailable } from '../store/dialect.ts';
import type { Captured, CaptureOpening } from '../store/opening.ts';
import {
  findCaptured,
  findDeleted,
  findSender,
  isOwn,
  mayDelete,
  mayDeleteAgain,
  mayWrite,
} from '../store/ownership.ts';
import { findChainKeys } from '../store/salt-keys.ts';
import { withoutContent } from '../store/session-columns.ts';
import { toSession } from '../store/sessions.ts';
import { Queue } from '../work.ts';
import { found } from './answers.ts';

/** The most sessions of one request that receive events at the same time. */
const SESSIONS_AT_ONCE = 4;

/** This many sessions count as one more request. */
const SESSIONS_A_POINT = 50;
export const pointsOf = (sessions: readonly unknown[]) => Math.floor(sessions.length / SESSIONS_A_POINT);

/** Requests for many sessions at once, with an answer for each session. */
export const captureHandlers = ({ store: { db }, sessionLog, writePermission, reading, now }: Deps) => {
  /**
   * Appends the batches of one session in order. It stops at the first refused batch, so that no batch overtakes an earlier
   * one.
   */
  async function appendInOrder(caller: SecretCaller, batches: readonly Batch[]): Promise<BulkResult[]> {
    const results: BulkResult[] = [];
    for (const { sessionId, idempotencyKey, expectedEvents, read, zstd } of batches) {
      const name = { sessionId, idempotencyKey };
      try {
        if ('problem' in read) throw new Problem(read.problem.code, read.problem.error);
        const { events, fingerprint, body: plain } = read;
        const { organizationId, plane, secretId } = caller;
        const otherSecretId = await writePermission.check(caller, sessionId);
        const { replayed, ...place } = await sessionLog.append({
          organizationId,
          plane,
          // Backlogs have their own sender, so that they do not delay new events of the same secret.
          sender: `${secretId} backlog`,
          sessionId,
          idempotencyKey,
          fingerprint,
          otherSecretId,
          events,
          sent: { zstd, plain },
          expectedEvents,
        });
        results.push({ ...name, accepted: events.length, ...place, replayed });
      } catch (error) {
        results.push({ ...name, ...refusalOf(error) });
        break;
      }
    }
    const notTried = batches.slice(results.length).map(({ sessionId, idempotencyKey }) => ({
      sessionId,
      idempotencyKey,
      ...refusalOf(new Problem('service_unavailable', 'Not tried: an earlier batch of this session was refused.')),
    }));
    return [...results, ...notTried];
  }

  return {
    async captureSessions({ caller, body, spend }) {
      await spend(pointsOf(body.sessions));
      const captured = await sessionLog.capture(body.sessions.map((session) => toOpening(caller, session, now())));
      for (const one of captured) if ('row' in one) writePermission.note(one.row);
      const isFound = captured.some(({ outcome }) => outcome === 'found');
      const sender = isFound ? await findSender(db, caller) : undefined;
      const isTold = (one: Captured) =>
        one.outcome === 'opened' || (one.outcome === 'found' && sender !== undefined && isOwn(one.row, sender));
      const isForeign = (one: Captured) =>
        one.outcome === 'found' &&
        one.row.status === 'active' &&
        caller.machine !== undefined &&
        sender !== undefined &&
        !mayWrite(one.row, sender);
      const empty = captured.flatMap((one) =>
        'row' in one && isTold(one) && one.row.event_count === 0 ? [one.row.session_id] : [],
      );
      const chainKeys = await findChainKeys(db, caller.organizationId, empty);
      const results = captured.map((one, index) => ({
        clientKey: body.sessions[index]?.clientKey ?? '',
        ...toCaptureResult(one, isTold(one), isForeign(one)),
        ...('row' in one && optional('chainKey', chainKeys.get(one.row.session_id) ?? null)),
      }));
      return { status: 200, body: { results } };
    },

    async appendBatches({ caller, body: { appends }, frames, signal }) {
      if (frames.length !== appends.length) throw otherFrames(appends.length, frames.length);
      const read = await reading.read(
        frames.map(({ plain }) => plain),
        { group: caller.organizationId, person: caller.secretId, signal },
      );
      const batches = appends.map((append, index): Batch => {
        const { zstd } = frames[index] as SentFrame;
        return { ...append, read: read[index] as ReadAppend | RefusedAppend, zstd };
      });
      const sessions = [...Map.groupBy(batches, ({ sessionId }) => sessionId).values()];
      const answers = new Map<Batch, BulkResult>();
      const queue = new Queue({ atOnce: SESSIONS_AT_ONCE });
      const append = async (ofSession: (typeof sessions)[number]) => {
        const results = await appendInOrder(caller, ofSession);
        for (const [index, batch] of ofSession.entries()) answers.set(batch, results[index] as BulkResult);
      };
      await Promise.all(sessions.map((ofSession) => queue.run(() => append(ofSession))));
      const results = batches.map((batch) => answers.get(batch) as BulkResult);
      if (results.every(isUnanswered)) throw storeUnavailable('no batch could be stored');
      return { status: 200, body: { results } };
    },

    async completeSessions({ caller, body, spend }) {
      await spend(pointsOf(body.sessions));
      const { organizationId, plane } = caller;
      const results = await Promise.all(
        body.sessions.map(async ({ sessionId, status = 'completed', endedAt: given }) => {
          try {
            await writePermission.check(caller, sessionId);
            const asked = given === undefined ? undefined : fromTimestamp(given);
            const { endedAt } = await sessionLog.close({ organizationId, plane, sessionId, status, endedAt: asked });
            return { sessionId, status, endedAt: toTimestamp(endedAt) };
          } catch (error) {
            return { sessionId, ...refusalOf(error) };
          }
        }),
      );
      if (results.length > 0 && results.every(isUnanswered)) throw storeUnavailable('no session could be closed');
      return { status: 200, body: { results } };
    },

    async deleteCapturedSession({ caller, params }) {
      const { organizationId, plane } = caller;
      const row = await findCaptured(db, organizationId, plane, params.clientKey);
      const tombstone = row ? undefined : await findDeleted(db, organizationId, plane, params.clientKey);
      const sender = await findSender(db, caller);
      if (row && !mayDelete(row, sender, now())) throw otherMachine();
      if (tombstone && !mayDeleteAgain(tombstone, sender)) throw otherMachine();
      // Deletes by the checked id, because another machine may capture a session under the key at any moment.
      const { session_id: sessionId } = found(row ?? tombstone, 'session');
      await sessionLog.delete({ organizationId, sessionId }, secret(caller.secretId));
      return { status: 200, body: { sessionId } };
    },
  } satisfies Partial<Handlers>;
};

interface Batch {
  sessionId: string;
  idempotencyKey: string;
  expectedEvents?: number | undefined;
  read: ReadAppend | RefusedAppend;
  /** The body in its sent form; it may be stored unchanged. */
  zstd: Buffer;
}

const isUnanswered = (result: object) => 'code' in result && result.code === 'service_unavailable';

/** The answer for one session. An error that is not a refusal fails the whole request. */
function refusalOf(error: unknown): { error: string; code: string; eventCount?: number } {
  if (error instanceof SequenceMismatch) return { ...error.toBody(), eventCount: error.eventCount };
  if (error instanceof Problem) return error.toBody();
  throw error;
}

function toOpening(
  { organizationId, plane, secretId }: SecretCaller,
  session: CapturedSession,
  now: number,
): CaptureOpening {
  const {
    agentInstallationId: installationId,
    environmentId,
    agentId,
    title,
    repoRoot,
    repoRemote,
    gitBranch,
    visibility,
  } = session;
  const { clientKey, continues, forkedFrom, startedAt, endedAt } = session;
  return {
    ...{
      organizationId,
      plane,
      secretId,
      environmentId,
      installationId,
      agentId,
      title,
      repoRoot,
      repoRemote,
      gitBranch,
      visibility,
    },
    startedAt: startedAt === undefined ? now : Math.min(now, fromTimestamp(startedAt)),
    capture: { clientKey, continues, forkedFrom, endedAt: endedAt === undefined ? undefined : fromTimestamp(endedAt) },
  };
}

/**
 * Members can compute a key. The answer may therefore reveal that a session exists, but neither its content nor its visibility.
 */
function toCaptureResult(one: Captured, isTold: boolean, isForeign: boolean): Omit<CaptureResult, 'clientKey'> {
  if ('row' in one) {
    if (isForeign) return { outcome: 'foreign' };
    if (isTold) return { outcome: one.outcome, session: toSession(one.row) };
    const { visibility: _, ...session } = toSession(withoutContent(one.row));
    return { outcome: one.outcome, session };
  }
  if (one.outcome === 'deleted') return { outcome: 'deleted' };
  if (one.outcome === 'expired') {
    const { outcome, eventCount, lastEventAt } = one;
    return { outcome, eventCount, lastEventAt: toTimestamp(lastEventAt) };
  }
  return { outcome: one.outcome, ...one.problem.toBody() };
}

const otherFrames = (appends: number, frames: number) =>
  new Problem(
    'validation_failed',
    `/appends lists ${appends} appends, but ${frames} frames follow. Send one frame for each append, in the same order.`,
  );

const otherMachine = () =>
  new Problem('other_machine', 'Another machine captured this session. Ask an owner or admin to delete it.');
