import type { DigestsResult } from '../../contract/digest.ts';
import { MAX_DIGESTS_AT_ONCE } from '../../contract/digest.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import type { SecretCaller } from '../http/secret-lookup.ts';
import { type AskedSession, streamEventDigests } from '../ingest/digests.ts';
import { noSuchSession } from '../log/outcome.ts';
import { findSender, isOwn } from '../store/ownership.ts';
import type { SessionRow } from '../store/schema.ts';
import { findSessions } from '../store/sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { pointsOf } from './capture.ts';

export const digestHandlers = ({ store: { db } }: Deps) => {
  /** The sessions whose digests this caller may read, by their ids. */
  async function findAllowed(caller: SecretCaller, sessionIds: string[]): Promise<Map<string, SessionRow>> {
    const { organizationId, plane } = caller;
    const found = await findSessions(db, wholeOrganization(organizationId), sessionIds);
    const onPlane = found.filter((session) => session.plane === plane);
    const needsSender = !onPlane.every(isForAll);
    const sender = needsSender ? await findSender(db, caller) : undefined;
    const allowed = onPlane.filter((row) => isForAll(row) || (sender !== undefined && isOwn(row, sender)));
    return new Map(allowed.map((row) => [row.session_id, row]));
  }

  return {
    async listEventDigests({ caller, body: { nonce, sessions, limit = MAX_DIGESTS_AT_ONCE }, spend }) {
      await spend(pointsOf(sessions));
      const allowed = await findAllowed(
        caller,
        sessions.map(({ sessionId }) => sessionId),
      );
      const asked = sessions.map(({ sessionId, from = 1 }): AskedSession => {
        const row = allowed.get(sessionId);
        return row ? { sessionId, from, row } : { sessionId, refusal: NO_SESSION };
      });
      return { status: 200, body: await streamEventDigests(db, asked, limit, nonce) };
    },
  } satisfies Partial<Handlers>;
};

/**
 * Other machines find a session by its client key alone, to learn which events they need not send again. A caller who may not
 * read the session may not compare guesses with it either.
 */
const isForAll = ({ client_key, visibility }: SessionRow) => client_key !== null && visibility === 'team';

const { code, message } = noSuchSession();
const NO_SESSION: Pick<DigestsResult, 'code' | 'error'> = { error: message, code };
