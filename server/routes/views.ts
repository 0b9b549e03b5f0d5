import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import type { Db, MemberRow, ViewRow } from '../store/schema.ts';
import { addView, changeView, findView, listViews, removeView, toView } from '../store/views.ts';
import { found } from './answers.ts';
import { asMember } from './as-member.ts';

export const viewHandlers = ({ store: { db }, now }: Deps) =>
  ({
    async listViews({ caller }) {
      const rows = await listViews(db, caller.organizationId, caller.userId);
      return { status: 200, body: { views: rows.map(toView) } };
    },

    async saveView({ caller, body }) {
      const row = await asMember(db, caller, (views) => addView(views, caller, body, now()));
      return { status: 201, body: { view: toView(row) } };
    },

    async changeView({ caller, params: { viewId }, body }) {
      const row = await asMember(db, caller, async (views, member) => {
        const view = await findChangeable(views, member, viewId);
        if (body.isShared === false && view.created_by !== caller.userId) throw notYours();
        return changeView(views, view, body, now());
      });
      return { status: 200, body: { view: toView(row) } };
    },

    async deleteView({ caller, params: { viewId } }) {
      await asMember(db, caller, async (views, member) =>
        removeView(views, await findChangeable(views, member, viewId)),
      );
      return { status: 200, body: { viewId } };
    },
  }) satisfies Partial<Handlers>;

/**
 * Finds a view that the person may change: members change only their own views; admins also change shared views, because the
 * person who shared one may have left.
 */
async function findChangeable(db: Db, { organization_id, user_id, role }: MemberRow, viewId: string): Promise<ViewRow> {
  const view = found(await findView(db, organization_id, user_id, viewId), 'view');
  if (view.created_by === user_id || role !== 'member') return view;
  throw new Problem('insufficient_role', 'Only the person who shared this view, or an admin, may change it. Ask one.');
}

const notYours = () =>
  new Problem(
    'insufficient_role',
    'Only the person who shared this view may unshare it. Delete it instead, so that nobody has it.',
  );
