import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { MemberCaller } from '../http/auth.ts';
import type { Ask, Handlers } from '../http/handler.ts';
import type { Looker } from '../ingest/session-views.ts';
import { readPolicy } from '../store/policies.ts';
import { listSenders, toSender } from '../store/senders.ts';
import { listSessionViews, toSessionView } from '../store/session-views.ts';
import { findSession } from '../store/sessions.ts';
import { viewerOf } from '../store/viewer.ts';
import { found, foundReadable } from './answers.ts';

export const sessionViewHandlers = ({ store: { db }, sessionViews }: Deps) =>
  ({
    async listSessionViews({ caller, params }) {
      const { organizationId, userId, role } = caller;
      const session = found(await findSession(db, await viewerOf(db, caller), params.sessionId), 'session');
      const isTheirs = session.user_id === null ? role !== 'member' : session.user_id === userId;
      if (!isTheirs) throw ofAnother();
      // Includes the views that wait in this process, because somebody may reload the page to see them.
      await sessionViews.flush();
      const [{ recordViews: isRecorded }, rows] = await Promise.all([
        readPolicy(db, organizationId),
        listSessionViews(db, organizationId, params.sessionId),
      ]);
      return { status: 200, body: { isRecorded, views: rows.map(toSessionView) } };
    },

    async listSessionSenders({ caller, params }) {
      const viewer = await viewerOf(db, caller);
      const session = foundReadable(viewer, await findSession(db, viewer, params.sessionId));
      return { status: 200, body: { senders: (await listSenders(db, session)).map(toSender) } };
    },
  }) satisfies Partial<Handlers>;

/** The requesting member, in the form in which the person of a session sees them. */
export const visitorOf = (
  { address, header }: Pick<Ask, 'address' | 'header'>,
  { userId }: Pick<MemberCaller, 'userId'>,
): Looker => ({
  userId,
  address,
  // Every browser's user agent starts like this.
  isBrowser: header('user-agent')?.startsWith('Mozilla/') ?? false,
});

const ofAnother = () =>
  new Problem(
    'insufficient_role',
    'Only the person of a session may see who looked at it. If it belongs to nobody, admins may.',
  );
