import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { findSender, isOwn } from '../store/ownership.ts';
import { findSession } from '../store/sessions.ts';
import { viewerOf, wholeOrganization } from '../store/viewer.ts';
import { found, foundReadable } from './answers.ts';

export const evidenceHandlers = ({ store: { db }, witness }: Deps) => {
  return {
    async showEvidence({ caller, params: { sessionId } }) {
      const viewer = await viewerOf(db, caller);
      const session = foundReadable(viewer, await findSession(db, viewer, sessionId));
      return { status: 200, body: found(await witness.sign(session), 'session') };
    },

    async countersignSession({ caller, params: { sessionId }, body: { machineKey } }) {
      const { organizationId, plane } = caller;
      const session = await findSession(db, wholeOrganization(organizationId), sessionId);
      const isAllowed = session?.plane === plane && isOwn(session, await findSender(db, caller));
      if (!session || !isAllowed) throw new Problem('not_found', 'No such session of this machine or its person.');
      return { status: 200, body: found(await witness.sign(session, machineKey), 'session') };
    },
  } satisfies Partial<Handlers>;
};
