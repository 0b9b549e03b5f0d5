import { sql } from 'kysely';
import { Problem } from '../../contract/problem.ts';
import type { ChangeViewBody, SaveViewBody, View, ViewSearch } from '../../contract/view.ts';
import { newId } from '../ids.ts';
import { toTimestamp } from './columns.ts';
import { allRows, firstRow, oneRow } from './rows.ts';
import type { Db, MemberKey, ViewRow } from './schema.ts';

/** How many views a person may save, and an organization may share. */
export const VIEW_QUOTAS = { own: 100, shared: 500 } as const;

export const toView = (row: ViewRow): View => ({
  viewId: row.view_id,
  name: row.name,
  search: JSON.parse(row.search) as ViewSearch,
  isShared: row.is_shared === 1,
  createdBy: row.created_by,
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
});

/** Lists the views that a person saved, then the views that others share. Each half has an index. */
export const listViews = (db: Db, organizationId: string, userId: string): Promise<ViewRow[]> =>
  allRows(
    db,
    sql<ViewRow>`
      select * from views where organization_id = ${organizationId} and created_by = ${userId}
      union all
      select * from views
      where organization_id = ${organizationId} and is_shared = 1 and created_by <> ${userId}`,
  );

/** Finds a view that the person may see: their own or a shared one. */
export const findView = (db: Db, organizationId: string, userId: string, viewId: string) =>
  firstRow(
    db,
    sql<ViewRow>`
      select * from views
      where organization_id = ${organizationId} and view_id = ${viewId}
        and (is_shared = 1 or created_by = ${userId})`,
  );

/**
 * Saves a view, in a transaction of `changeMembers`, so that concurrent requests count each other.
 * @throws Problem `quota_reached`
 */
export async function addView(
  transaction: Db,
  { organizationId, userId }: MemberKey,
  { name, search, isShared = false }: SaveViewBody,
  now: number,
): Promise<ViewRow> {
  const row = await oneRow(
    transaction,
    sql<ViewRow>`
      insert into views (view_id, organization_id, created_by, name, search, is_shared, created_at, updated_at)
      values (${newId('viw', now)}, ${organizationId}, ${userId}, ${name}, ${JSON.stringify(kept(search))},
        ${Number(isShared)}, ${now}, ${now})
      returning *`,
  );
  await assertViewRoom(transaction, row);
  return row;
}

/**
 * Changes a view, in a transaction of `changeMembers`.
 * @throws Problem `quota_reached`
 */
export async function changeView(
  transaction: Db,
  view: ViewRow,
  { name = view.name, search, isShared = view.is_shared === 1 }: ChangeViewBody,
  now: number,
): Promise<ViewRow> {
  const row = await oneRow(
    transaction,
    sql<ViewRow>`
      update views
      set name = ${name}, search = ${search ? JSON.stringify(kept(search)) : view.search},
        is_shared = ${Number(isShared)}, updated_at = ${now}
      where organization_id = ${view.organization_id} and view_id = ${view.view_id}
      returning *`,
  );
  if (row.is_shared > view.is_shared) await assertViewRoom(transaction, row);
  return row;
}

export const removeView = (db: Db, { organization_id, view_id }: ViewRow) =>
  sql`delete from views where organization_id = ${organization_id} and view_id = ${view_id}`.execute(db);

/** Removes the private views of a person who leaves. Their shared views stay with the organization. */
export const removeOwnViews = (db: Db, organizationId: string, userId: string) =>
  sql`
    delete from views
    where organization_id = ${organizationId} and created_by = ${userId} and is_shared = 0`.execute(db);

/** Removes unknown fields, which would have no bound. */
const kept = ({ q, secretEnvironment, order, direction }: ViewSearch): ViewSearch => ({
  ...(q && { q }),
  ...(secretEnvironment && { secretEnvironment }),
  ...(order && { order }),
  ...(direction && { direction }),
});

/** Checks the quotas with the view that was just written. */
async function assertViewRoom(transaction: Db, { organization_id, created_by, is_shared }: ViewRow): Promise<void> {
  const { own, shared } = await oneRow(
    transaction,
    sql<{ own: number; shared: number }>`
      select
        (select count(*) from views where organization_id = ${organization_id} and created_by = ${created_by}) as own,
        (select count(*) from views where organization_id = ${organization_id} and is_shared = 1) as shared`,
  );
  if (Number(own) > VIEW_QUOTAS.own) {
    throw new Problem('quota_reached', `A person may save ${VIEW_QUOTAS.own} views. Delete one of yours first.`);
  }
  if (is_shared === 1 && Number(shared) > VIEW_QUOTAS.shared) {
    throw new Problem(
      'quota_reached',
      `An organization may share ${VIEW_QUOTAS.shared} views. Save this one for yourself, or delete a shared one first.`,
    );
  }
}
