import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { findSender, isOwn } from '../store/ownership.ts';
import type { SessionRow } from '../store/schema.ts';
import { findSession } from '../store/sessions.ts';
import { viewerOf, wholeOrganization } from '../store/viewer.ts';
import { found, foundReadable } from './answers.ts';

export const evidenceHandlers = ({ store: { db }, longReads, countersigner }: Deps) => {
  /** Reads the events that are not signed yet, so it takes its turn. */
  const show = (session: SessionRow, userId: string, signal: AbortSignal, machineKey: string | null) =>
    longReads.run({ organizationId: session.organization_id, userId }, signal, async (_, signal) =>
      found(await countersigner.sign(session, machineKey, signal), 'session'),
    );

  return {
    async showEvidence({ caller, params: { sessionId }, signal }) {
      const viewer = await viewerOf(db, caller);
      const session = foundReadable(viewer, await findSession(db, viewer, sessionId));
      return { status: 200, body: await show(session, caller.userId, signal, null) };
    },

    async countersignSession({ caller, params: { sessionId }, body: { machineKey }, signal }) {
      const { organizationId, plane } = caller;
      const session = await findSession(db, wholeOrganization(organizationId), sessionId);
      const isAllowed = session?.plane === plane && isOwn(session, await findSender(db, caller));
      if (!session || !isAllowed) throw new Problem('not_found', 'No such session of this machine or its person.');
      return { status: 200, body: await show(session, caller.secretId, signal, machineKey) };
    },
  } satisfies Partial<Handlers>;
};
