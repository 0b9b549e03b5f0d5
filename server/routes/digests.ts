import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { SecretCaller } from '../http/caller.ts';
import type { Handlers } from '../http/handler.ts';
import { streamEventDigests } from '../ingest/digests.ts';
import { findSession } from '../store/sessions.ts';

const DEFAULT_PAGE = 100;

export const digestHandlers = ({ store: { db } }: Deps) => {
  async function findOrFail({ organizationId, plane }: SecretCaller, sessionId: string) {
    const session = await findSession(db, organizationId, sessionId);
    if (session?.plane !== plane) throw new Problem('not_found', 'No such session in this organization and plane.');
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
