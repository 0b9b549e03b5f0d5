import type { Envelope } from '../../contract/dsse.ts';
import type { Evidence } from '../../contract/evidence.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { findSender, isOwn } from '../store/ownership.ts';
import type { SessionRow } from '../store/schema.ts';
import { readMaskedDigests } from '../store/session-chains.ts';
import { findSession } from '../store/sessions.ts';
import { viewerOf, wholeOrganization } from '../store/viewer.ts';
import { found, foundReadable } from './answers.ts';

export const evidenceHandlers = ({ store: { db }, witness }: Deps) => {
  async function show(session: SessionRow, machineKey?: string): Promise<Evidence> {
    const chain = found(await witness.sign(session, machineKey), 'session');
    const place = { organizationId: session.organization_id, sessionId: session.session_id };
    const masked = await readMaskedDigests(db, place, 1, chain.sequence);
    return {
      countersignature: JSON.parse(chain.envelope) as Envelope,
      masked: [...masked].map(([sequence, digest]) => ({ sequence, digest })),
    };
  }

  return {
    async showEvidence({ caller, params: { sessionId } }) {
      const viewer = await viewerOf(db, caller);
      const session = foundReadable(viewer, await findSession(db, viewer, sessionId));
      return { status: 200, body: await show(session) };
    },

    async countersignSession({ caller, params: { sessionId }, body: { machineKey } }) {
      const { organizationId, plane } = caller;
      const session = await findSession(db, wholeOrganization(organizationId), sessionId);
      const isAllowed = session?.plane === plane && isOwn(session, await findSender(db, caller));
      if (!session || !isAllowed) throw new Problem('not_found', 'No such session of this machine or its person.');
      return { status: 200, body: await show(session, machineKey) };
    },
  } satisfies Partial<Handlers>;
};
