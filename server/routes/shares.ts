import type { Policy } from '../../contract/policy.ts';
import { Problem } from '../../contract/problem.ts';
import type { SharedFigures, SharedSession } from '../../contract/share.ts';
import { hashSecret, newShareToken } from '../credentials.ts';
import { readSequence } from '../cursor.ts';
import type { Deps } from '../deps.ts';
import { toSummary } from '../derive/review.ts';
import type { UserCaller } from '../http/auth.ts';
import type { Ask, Handlers } from '../http/handler.ts';
import { streamEvents } from '../ingest/page.ts';
import { type ShareView, viewOfShare } from '../ingest/share-view.ts';
import { person } from '../store/audit-chain.ts';
import { optional, optionalTimestamp, toTimestamp } from '../store/columns.ts';
import { findMember } from '../store/members.ts';
import { readPolicy } from '../store/policies.ts';
import type { SessionRow, ShareRow } from '../store/schema.ts';
import { findSession } from '../store/sessions.ts';
import {
  createShare,
  endOf,
  findShare,
  findShareByHash,
  isInForce,
  listShares,
  revokeShare,
  toShare,
} from '../store/shares.ts';
import { findSummaries } from '../store/summaries.ts';
import { asOrganization } from '../store/tenant.ts';
import { asReadable, mayShare, type Viewer, viewerOf } from '../store/viewer.ts';
import { found } from './answers.ts';
import { visitorOf } from './session-views.ts';

const DEFAULT_PAGE = 100;

export const shareHandlers = ({ store: { db }, pepper, publicUrl, sessionViews, shareCounts, now }: Deps) => {
  /** Runs work as the person who made the share, so that it shows no more than that person may see now. */
  async function asSharer<Result>(
    token: string,
    caller: UserCaller | undefined,
    work: (opened: OpenedShare) => Promise<Result>,
  ): Promise<Result> {
    const share = await findShareByHash(db, hashSecret(pepper, token));
    if (!share) throw unknownShare();
    const policy = await readPolicy(db, share.organization_id);
    if (!isInForce(share, policy, now())) throw ended();
    assertMeant(share, caller);
    return asOrganization(
      share.organization_id,
      async () => {
        const opened = await open(share, policy);
        if (!opened) throw ended();
        return work(opened);
      },
      share.shared_by,
    );
  }

  /** What the share shows now; undefined if the person who made it may no longer show that much. */
  async function open(share: ShareRow, policy: Policy): Promise<OpenedShare | undefined> {
    const { organization_id: organizationId, shared_by: userId, session_id: sessionId } = share;
    const sharer = await findMember(db, organizationId, userId);
    if (sharer?.status !== 'active') return undefined;
    const viewer = { organizationId, userId, seesAll: false };
    const session = await findSession(db, viewer, sessionId);
    if (!session || !mayShare(viewer, session, share)) return undefined;
    return { share, policy, viewer, session, view: viewOfShare(share, session) };
  }

  const isSharedStill = async ({ share }: OpenedShare) => {
    const current = await findShareByHash(db, share.token_hash);
    if (!current) return false;
    const policy = await readPolicy(db, current.organization_id);
    return isInForce(current, policy, now()) && (await open(current, policy)) !== undefined;
  };

  /**
   * @param isFurther whether the request continues a view that was counted when the share was opened. A share that nobody has
   * opened counts one view as soon as its events are read.
   */
  function noteView(visit: Visit, share: ShareRow, session: SessionRow, isFurther = false): void {
    shareCounts.note(share, isFurther);
    // People of other organizations may open a link. They have no identity in this organization.
    const { caller } = visit;
    if (caller?.membership?.organizationId !== share.organization_id) return;
    sessionViews.note(visitorOf(visit, caller), session, 'opened', isFurther);
  }

  return {
    async createShare({ caller, params: { sessionId }, body }) {
      const token = newShareToken();
      const viewer = { ...(await viewerOf(db, caller)), userId: caller.userId };
      const tokenHash = hashSecret(pepper, token);
      const row = found(await createShare(db, viewer, { ...body, sessionId, tokenHash }, now()), 'session');
      const share = toShare(row, await readPolicy(db, caller.organizationId));
      return { status: 201, body: { share, token, url: `${publicUrl}/s/${token}` } };
    },

    async listShares({ caller, params: { sessionId } }) {
      const { organizationId, userId, role } = caller;
      const session = found(await findSession(db, await viewerOf(db, caller), sessionId), 'session');
      const seesAll = role !== 'member' || session.user_id === userId;
      // Includes the counts that wait in this process, because somebody may reload the page to see them.
      await shareCounts.flush();
      const [policy, rows] = await Promise.all([
        readPolicy(db, organizationId),
        listShares(db, organizationId, sessionId, seesAll ? undefined : userId),
      ]);
      return { status: 200, body: { shares: rows.map((row) => toShare(row, policy)) } };
    },

    async revokeShare({ caller, params: { sessionId, shareId } }) {
      const { organizationId, userId, role } = caller;
      const share = await findShare(db, organizationId, sessionId, shareId);
      const mayRevoke = share && (share.shared_by === userId || share.user_id === userId || role !== 'member');
      await revokeShare(db, found(mayRevoke ? share : undefined, 'share'), person(userId), now());
      return { status: 204, body: undefined };
    },

    getShare: (ask) =>
      asSharer(ask.params.token, ask.caller, async (opened) => {
        const { share, viewer, session } = opened;
        const [row] = await findSummaries(db, viewer, [share.session_id]);
        const summary = row?.derived && toSummary(row);
        noteView(ask, share, session);
        return { status: 200, body: toShared(opened, summary || undefined) };
      }),

    listSharedEvents: (ask) =>
      asSharer(ask.params.token, ask.caller, async (opened) => {
        const { share, viewer, session, view } = opened;
        const { query } = ask;
        const readable = view.show && asReadable(viewer, session);
        if (!readable) throw new Problem('content_withheld', 'This share shows figures only.');
        noteView(ask, share, session, true);
        const from = Math.max(view.first, query.cursor === undefined ? view.first : readSequence(query.cursor));
        const range = { from, limit: Number(query.limit ?? DEFAULT_PAGE), last: view.last };
        const body = await streamEvents(db, viewer, readable, range, view.show, () => isSharedStill(opened));
        return { status: 200, body };
      }),
  } satisfies Partial<Handlers>;
};

/** A request to open a share. */
type Visit = Pick<Ask, 'address' | 'header'> & { caller: UserCaller | undefined };

interface OpenedShare {
  share: ShareRow;
  policy: Policy;
  viewer: Viewer;
  session: SessionRow;
  view: ShareView;
}

/** @throws Problem `token_missing` if the caller has not signed in, `not_found` if the share is not meant for the caller */
function assertMeant(share: ShareRow, caller: UserCaller | undefined): void {
  if (share.audience === 'link') return;
  if (!caller) throw new Problem('token_missing', 'Sign in to open this share, and send the token as a bearer token.');
  const isMember = caller.membership?.organizationId === share.organization_id;
  const isMeant = share.audience === 'organization' || share.recipient_id === caller.userId;
  if (!isMember || !(isMeant || share.shared_by === caller.userId)) throw unknownShare();
}

const unknownShare = () => new Problem('not_found', 'There is no such share. Ask who sent you the link for a new one.');

const ended = () =>
  new Problem('share_ended', 'This share has ended. Ask the person who sent you the link to share the session again.');

/** @param summary absent until it is derived */
function toShared({ share, policy, view }: OpenedShare, summary?: SharedFigures & { title?: string }): SharedSession {
  const { session, first, last, hasTitle, hasFigures } = view;
  return {
    level: share.level,
    ...optional('from', share.from_sequence),
    ...optional('to', share.to_sequence),
    expiresAt: toTimestamp(endOf(share, policy)),
    agentId: session.agent_id,
    status: session.status,
    startedAt: toTimestamp(session.started_at),
    ...optionalTimestamp('endedAt', session.ended_at),
    eventCount: Math.max(0, last - first + 1),
    ...optional('title', hasTitle ? (summary?.title ?? session.title) : null),
    ...optional('repository', session.repository),
    ...(hasFigures && summary && { figures: toFigures(summary) }),
  };
}

function toFigures(summary: SharedFigures): SharedFigures {
  const { prompts, toolCalls, failures, filesChanged, linesAdded, linesRemoved } = summary;
  const { inputTokens, cachedTokens, outputTokens } = summary;
  return {
    prompts,
    toolCalls,
    failures,
    filesChanged,
    linesAdded,
    linesRemoved,
    inputTokens,
    cachedTokens,
    outputTokens,
  };
}
