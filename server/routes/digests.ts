import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { SecretCaller } from '../http/caller.ts';
import type { Handlers } from '../http/handler.ts';
import { streamEventDigests } from '../ingest/digests.ts';
import { findSender, isOwn } from '../store/ownership.ts';
import { findSession } from '../store/sessions.ts';

const DEFAULT_PAGE = 100;

export const digestHandlers = ({ store: { db } }: Deps) => {
  async function findOrFail(caller: SecretCaller, sessionId: string) {
    const { organizationId, plane } = caller;
    const session = await findSession(db, organizationId, sessionId);
    if (session?.plane !== plane) throw noSession();
    // Other machines find a session by its client key alone, to learn what they need not send again.
    if (session.client_key === null && !isOwn(session, await findSender(db, caller))) throw noSession();
    return session;
  }

  return {
    async listEventDigests({ caller, params, query }) {
      const session = await findOrFail(caller, params.sessionId);
      const range = { from: Number(query.from ?? 1), limit: Number(query.limit ?? DEFAULT_PAGE) };
      return { status: 200, body: await streamEventDigests(db, session, range, query.nonce) };
    },
  } satisfies Partial<Handlers>;
};

const noSession = () => new Problem('not_found', 'No such session in this organization and plane.');
