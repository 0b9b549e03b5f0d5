import { Problem } from '../../contract/problem.ts';
import { readSequence } from '../cursor.ts';
import type { Deps } from '../deps.ts';
import type { MemberCaller } from '../http/auth.ts';
import type { Handlers } from '../http/handler.ts';
import { streamEvents } from '../ingest/page.ts';
import type { ReadAppend, RefusedAppend } from '../ingest/scan/read.ts';
import { findSession } from '../store/sessions.ts';
import { viewerOf } from '../store/viewer.ts';
import { foundReadable } from './answers.ts';
import { visitorOf } from './session-views.ts';

const DEFAULT_PAGE = 100;

export const eventHandlers = ({ store: { db }, sessionLog, writePermission, reading, sessionViews }: Deps) => {
  async function find(caller: MemberCaller, sessionId: string) {
    const viewer = await viewerOf(db, caller);
    return { viewer, session: foundReadable(viewer, await findSession(db, viewer, sessionId)) };
  }

  return {
    async appendEvents({ caller, params, bytes, zstd, header, signal }) {
      const { organizationId, plane, secretId: sender } = caller;
      const { sessionId } = params;
      const inHeader = readKey(header('idempotency-key'));
      const asker = { group: organizationId, person: sender, signal };
      const [read] = (await reading.read([bytes], asker)) as [ReadAppend | RefusedAppend];
      if ('problem' in read) throw new Problem(read.problem.code, read.problem.error);
      const { events, idempotencyKey: inBody, body: plain, fingerprint } = read;
      const idempotencyKey = inHeader ?? inBody ?? null;
      const sent = zstd && { zstd, plain };
      const otherSecretId = await writePermission.check(caller, sessionId);
      const batch = {
        organizationId,
        plane,
        sender,
        sessionId,
        idempotencyKey,
        fingerprint,
        otherSecretId,
        events,
        sent,
      };
      const { firstSequence, lastSequence, replayed, async } = await sessionLog.append(batch);
      return {
        status: async ? 202 : 200,
        headers: replayed ? { 'idempotency-replayed': 'true' } : {},
        body: { sessionId, accepted: events.length, firstSequence, lastSequence, async },
      };
    },

    async listSessionEvents(ask) {
      const { caller, params, query } = ask;
      const { viewer, session } = await find(caller, params.sessionId);
      sessionViews.note(visitorOf(ask, ask.caller), session, 'exported', query.cursor !== undefined);
      const from = query.cursor === undefined ? 1 : readSequence(query.cursor);
      const limit = query.limit === undefined ? DEFAULT_PAGE : positiveOrZero(query.limit);
      return { status: 200, body: await streamEvents(db, viewer, session, { from, limit }) };
    },

    async getEventWindow(ask) {
      const { caller, params, query } = ask;
      const { viewer, session } = await find(caller, params.sessionId);
      sessionViews.note(visitorOf(ask, ask.caller), session, 'opened', true);
      const [from, limit] = [Number(query.from ?? 1), Number(query.limit ?? DEFAULT_PAGE)];
      const body = await streamEvents(db, viewer, session, { from, limit });
      return { status: 200, body };
    },
  } satisfies Partial<Handlers>;
};

/** RFC-draft idempotency keys may be sent as a quoted string; the quotes are not part of the key. */
function readKey(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const key = /^"(.*)"$/.exec(value)?.[1] ?? value;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new Problem('validation_failed', 'The header Idempotency-Key must have 1 to 255 visible ASCII characters.');
  }
  return key;
}

/** The limit without an upper bound. 0, a negative number or a text that is not a number gives an empty page. */
const positiveOrZero = (limit: string) => (/^\d{1,15}$/.test(limit) ? Number(limit) : 0);
