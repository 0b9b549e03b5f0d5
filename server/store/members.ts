import type { Member, Role } from '../../contract/organization.ts';
import { newId } from '../ids.ts';
import type { Db } from './open.ts';
import { emailKey } from './people.ts';
import { QUOTAS } from './quotas.ts';
import type { MemberRow } from './schema.ts';
import { optionalTimestamp, toTimestamp } from './time.ts';

export const toMember = (row: MemberRow): Member => ({
  organizationId: row.organization_id,
  userId: row.user_id,
  email: row.email,
  role: row.role,
  status: row.status,
  ...optionalTimestamp('joinedAt', row.joined_at),
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
});

export const listMembers = (db: Db, organizationId: string) =>
  db
    .selectFrom('members')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('user_id')
    .limit(QUOTAS.members)
    .execute();

/** Writes the invitation down. Rejects on a unique constraint when the e-mail already belongs to an organization. */
export const insertInvited = (db: Db, organizationId: string, email: string, role: Role, now: number) =>
  db
    .insertInto('members')
    .values({
      organization_id: organizationId,
      user_id: newId('usr'),
      email,
      email_key: emailKey(email),
      role,
      status: 'invited',
      joined_at: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Takes an invitation back that nobody has accepted. */
export const removeInvited = (db: Db, organizationId: string, userId: string) =>
  db
    .deleteFrom('members')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('status', '=', 'invited')
    .execute();
