import { sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import type { Role } from '../../contract/organization.ts';
import type { Plane } from '../../contract/secret.ts';
import { recordAction } from './audit.ts';
import { type Happened, person } from './audit-chain.ts';
import { findMember } from './members.ts';
import { changeMembers } from './organizations.ts';
import { allRows, changedRows, firstRow, insertion } from './rows.ts';
import type { Db, DeviceSignInRow, SecretRow } from './schema.ts';
import { addSecret, issuing, type NewSecret } from './secrets.ts';

export type NewDevice = Omit<DeviceSignInRow, 'status' | 'organization_id' | 'decided_by' | 'plane' | 'polled_at'>;

export const insertDevice = (db: Db, device: NewDevice) =>
  insertion('device_sign_ins', {
    ...device,
    status: 'pending',
    organization_id: null,
    decided_by: null,
    plane: null,
    polled_at: null,
  }).execute(db);

/** Removes expired sign-ins, with their addresses and host names. */
export const purgeDevices = (db: Db, now: number) =>
  sql`delete from device_sign_ins where expires_at <= ${now}`.execute(db);

/** Finds a sign-in by the hash of its device code. Only the machine has that code, so the query needs no organization. */
export const findDevice = (db: Db, deviceHash: string, now: number) =>
  firstRow(
    db,
    sql<DeviceSignInRow>`select * from device_sign_ins where device_hash = ${deviceHash} and expires_at > ${now}`,
  );

export const markPolled = (db: Db, deviceHash: string, now: number) =>
  sql`update device_sign_ins set polled_at = ${now} where device_hash = ${deviceHash}`.execute(db);

/**
 * Finds a sign-in by the hash of its user code. Members of every organization see a pending one; a decided one is visible
 * only in its organization.
 */
export const findDeviceByUser = (db: Db, organizationId: string, userHash: string, now: number) =>
  firstRow(
    db,
    sql<DeviceSignInRow>`
      select * from device_sign_ins
      where user_hash = ${userHash} and expires_at > ${now}
        and (organization_id is null or organization_id = ${organizationId})`,
  );

export interface DeviceDecision {
  status: 'approved' | 'denied';
  organizationId: string;
  decidedBy: string;
  plane: Plane;
}

/** @returns the decided sign-in; undefined if no sign-in is pending under that code */
export const decideDevice = (db: Db, userHash: string, decision: DeviceDecision, now: number) =>
  db.transaction().execute(async (transaction) => {
    const { status, organizationId, decidedBy, plane } = decision;
    const row = await firstRow(
      transaction,
      sql<DeviceSignInRow>`
        update device_sign_ins
        set status = ${status}, organization_id = ${organizationId}, decided_by = ${decidedBy}, plane = ${plane}
        where user_hash = ${userHash} and status = 'pending' and expires_at > ${now}
        returning *`,
    );
    if (!row) return undefined;
    const happened = {
      actor: person(decidedBy),
      action: status === 'approved' ? 'machine.sign_in_approved' : 'machine.sign_in_denied',
      target: { kind: 'machine', id: signInId(row.device_hash) },
      details: { platform: row.platform, purpose: row.purpose },
    } as const;
    await recordAction(transaction, organizationId, happened, now);
    return row;
  });

/**
 * Denies the sign-ins that a person approved and whose secrets were not issued yet.
 * @returns the entries for the audit log
 */
export async function denySignInsOf(
  transaction: Db,
  organizationId: string,
  userId: string,
  actor: AuditParty,
): Promise<Happened[]> {
  const denied = await allRows(
    transaction,
    sql<Pick<DeviceSignInRow, 'device_hash' | 'platform'>>`
      update device_sign_ins set status = 'denied'
      where organization_id = ${organizationId} and decided_by = ${userId} and status = 'approved'
      returning device_hash, platform`,
  );
  return denied.map(({ device_hash, platform }) => ({
    actor,
    action: 'machine.sign_in_denied',
    target: { kind: 'machine', id: signInId(device_hash) },
    details: { platform },
  }));
}

/** The name of a sign-in in the audit log, which outlives it. The host name is not used, since it may contain a person's name. */
const signInId = (deviceHash: string): string => deviceHash.slice(0, 12);

/**
 * Lets a machine read from now on, as the person who approved its sign-in.
 * @returns whether it may; false if it began to read before
 */
export const beginReading = async (db: Db, deviceHash: string, until: number): Promise<boolean> =>
  (await changedRows(
    db,
    sql`
      update device_sign_ins set status = 'issued', expires_at = ${until}
      where device_hash = ${deviceHash} and purpose = 'reading' and status = 'approved'`,
  )) === 1;

/** The person as whom a machine reads. */
export interface Reader {
  userId: string;
  organizationId: string;
  role: Role;
  issuer: string;
  subject: string;
  email: string;
}

/** Undefined once the sign-in is over, or if its person is no longer a member. */
export const findReader = (db: Db, deviceHash: string, now: number) =>
  firstRow(
    db,
    sql<Reader>`
      select members.user_id as "userId", members.organization_id as "organizationId", members.role, members.email,
        users.issuer, users.subject
      from device_sign_ins
      join members on members.organization_id = device_sign_ins.organization_id
        and members.user_id = device_sign_ins.decided_by
      join users on users.user_id = members.user_id
      where device_sign_ins.device_hash = ${deviceHash} and device_sign_ins.purpose = 'reading'
        and device_sign_ins.status = 'issued' and device_sign_ins.expires_at > ${now}
        and members.status = 'active'`,
  );

/** How long a machine may request its secret again, in case the response was lost. */
export const REPEATED_FOR_MS = 60_000;

/**
 * Issues the secret of an approved sign-in once. No member can be removed at the same time, because a removal must revoke all
 * secrets of the person who approved the sign-in.
 * @returns undefined if the secret was issued before, or if that person is no longer a member
 * @throws Problem `quota_reached`; the machine may try again
 */
export const issueToDevice = (db: Db, deviceHash: string, secret: NewSecret, now: number) =>
  changeMembers(db, secret.organizationId, async (transaction): Promise<SecretRow | undefined> => {
    if (!(await findMember(transaction, secret.organizationId, secret.createdBy))) return undefined;
    const again = now + REPEATED_FOR_MS;
    const marked = await changedRows(
      transaction,
      sql`
        update device_sign_ins
        set status = 'issued', expires_at = case when expires_at < ${again} then ${again} else expires_at end
        where device_hash = ${deviceHash} and organization_id = ${secret.organizationId} and status = 'approved'`,
    );
    if (marked !== 1) return undefined;
    const issued = await addSecret(transaction, secret, now);
    const happened = issuing(issued, { signIn: signInId(deviceHash) });
    await recordAction(transaction, issued.organization_id, happened, now);
    return issued;
  });
