import {
  DEVICE_EXPIRES_IN,
  DEVICE_INTERVAL,
  type DevicePurpose,
  type DeviceSignIn,
  READING_EXPIRES_IN,
} from '../../contract/device.ts';
import type { Role } from '../../contract/organization.ts';
import { Problem, type ProblemCode } from '../../contract/problem.ts';
import {
  hashSecret,
  newDeviceCode,
  newUserCode,
  plainUserCode,
  readingTokenOf,
  secretValueOf,
} from '../credentials.ts';
import type { Deps } from '../deps.ts';
import type { MemberCaller } from '../http/auth.ts';
import type { Ask, Handlers } from '../http/handler.ts';
import { toTimestamp } from '../store/columns.ts';
import {
  beginReading,
  decideDevice,
  findDevice,
  findDeviceByUser,
  findReader,
  insertDevice,
  issueToDevice,
  markPolled,
  REPEATED_FOR_MS,
} from '../store/devices.ts';
import { findNamed } from '../store/environments.ts';
import { findMember } from '../store/members.ts';
import { findOrganization } from '../store/organizations.ts';
import { readPolicy } from '../store/policies.ts';
import type { DeviceSignInRow, EnvironmentRow, MemberRow } from '../store/schema.ts';
import { findIssued, toSecret } from '../store/secrets.ts';
import { prepareSecret } from './secrets.ts';

/** How many requests a new sign-in counts as, because it is stored; and a wrong code, because it may be a guess. */
const BEGINNING_POINTS = 5;
const GUESS_POINTS = 10;
/** The second of two polls may arrive this much earlier because it travelled faster. */
const TOLERANCE_MS = 1_000;

export const deviceHandlers = ({ store: { db }, pepper, publicUrl, now }: Deps) => {
  const hashUserCode = (typed: string) => hashSecret(pepper, plainUserCode(typed));

  /** Whether the policy lets a member with this role confirm machines; confirming issues a secret. */
  const mayConfirm = async (organizationId: string, role: Role): Promise<boolean> =>
    role !== 'member' || (await readPolicy(db, organizationId)).signIn === 'members';

  /** Reading gives a machine nothing that its person may not do, so everybody may confirm it for themselves. */
  async function assertMayDecide({ organizationId, role }: MemberCaller, row: DeviceSignInRow | undefined) {
    if (row?.purpose !== 'reading' && !(await mayConfirm(organizationId, role))) throw adminsOnly();
  }

  /** The sign-in of a waiting machine, once a person has approved it. */
  async function findDecided(
    hash: string,
    purpose: DevicePurpose,
    { address, countAs }: Pick<Ask, 'address' | 'countAs'>,
  ) {
    const row = await findDevice(db, hash, now());
    if (row?.purpose !== purpose) {
      await countAs('stray', address);
      throw notYet('expired_token');
    }
    await countAs('waiting', hash);
    if (row.status === 'pending') {
      await markPolled(db, hash, now());
      throw notYet(isHasty(row, now()) ? 'slow_down' : 'authorization_pending');
    }
    if (row.status === 'denied') throw notYet('access_denied');
    return row;
  }

  async function noSuchCode(spend: Ask['spend']): Promise<Problem> {
    await spend(GUESS_POINTS - 1);
    return new Problem(
      'not_found',
      'No machine is waiting with this code. Compare it with the terminal; codes expire after 10 min.',
    );
  }

  return {
    async startDeviceSignIn({ body, address, spend }) {
      await spend(BEGINNING_POINTS - 1);
      const [deviceCode, userCode] = [newDeviceCode(), newUserCode()];
      const createdAt = now();
      await insertDevice(db, {
        device_hash: hashSecret(pepper, deviceCode),
        user_hash: hashUserCode(userCode),
        hostname: body.hostname,
        platform: body.platform,
        cli_version: body.serviceCliVersion,
        address,
        purpose: body.purpose ?? 'capture',
        created_at: createdAt,
        expires_at: createdAt + DEVICE_EXPIRES_IN * 1_000,
      });
      const verificationUri = `${publicUrl}/device`;
      const times = { expiresIn: DEVICE_EXPIRES_IN, interval: DEVICE_INTERVAL };
      return { status: 201, body: { deviceCode, userCode, verificationUri, ...times } };
    },

    async collectDeviceSecret({ body, address, countAs }) {
      const hash = hashSecret(pepper, body.deviceCode);
      const row = await findDecided(hash, 'capture', { address, countAs });
      const approved = approvedOf(row);
      const approver = await findMember(db, approved.organizationId, approved.createdBy);
      // Since then, the approver may have been removed, or have lost the right to confirm.
      if (!approver || !(await mayConfirm(approved.organizationId, approver.role))) throw notYet('access_denied');
      const machine = await findNamed(db, approved.organizationId, row);
      // The secret is derived from the code. A lost answer can therefore be repeated although the store does not hold the
      // secret.
      const value = secretValueOf(pepper, approved.plane, body.deviceCode);
      const environmentId = mayBind(machine, approver) ? machine?.environment_id : undefined;
      const secret = prepareSecret(pepper, value, { ...approved, userId: approved.createdBy, environmentId });
      const issued =
        (await issueToDevice(db, hash, secret, now())) ??
        (await findIssued(db, secret.organizationId, secret.hash, now() - REPEATED_FOR_MS));
      if (!issued) throw notYet('expired_token');
      const { name } = await findOrganization(db, secret.organizationId);
      return {
        status: 200,
        body: { secretId: issued.secret_id, secret: toSecret(issued), value, organizationName: name },
      };
    },

    async collectReadingToken({ body, address, countAs }) {
      const hash = hashSecret(pepper, body.deviceCode);
      const row = await findDecided(hash, 'reading', { address, countAs });
      if (row.status === 'approved') await beginReading(db, hash, now() + READING_EXPIRES_IN * 1_000);
      const reader = await findReader(db, hash, now());
      if (!reader) throw notYet('access_denied');
      const { name: organizationName } = await findOrganization(db, reader.organizationId);
      // A lost answer can be repeated: the token is made of the code, and does not last longer.
      const expiresIn = READING_EXPIRES_IN;
      return { status: 200, body: { token: readingTokenOf(body.deviceCode), expiresIn, organizationName } };
    },

    async getDeviceSignIn({ caller, query, spend }) {
      const row = await findDeviceByUser(db, caller.organizationId, hashUserCode(query.userCode), now());
      await assertMayDecide(caller, row);
      if (!row) throw await noSuchCode(spend);
      return { status: 200, body: toDevice(row) };
    },

    async decideDeviceSignIn({ caller, body, spend }) {
      const { organizationId, userId } = caller;
      const hash = hashUserCode(body.userCode);
      await assertMayDecide(caller, await findDeviceByUser(db, organizationId, hash, now()));
      const status = body.decision === 'approve' ? 'approved' : 'denied';
      const decision = { status, organizationId, decidedBy: userId, plane: body.secretEnvironment ?? 'live' } as const;
      const row = await decideDevice(db, hash, decision, now());
      if (row) return { status: 200, body: toDevice(row) };
      if (!(await findDeviceByUser(db, organizationId, hash, now()))) throw await noSuchCode(spend);
      throw new Problem('already_decided', 'This sign-in was already decided. Start a new one on the machine.');
    },
  } satisfies Partial<Handlers>;
};

const adminsOnly = () =>
  new Problem('insufficient_role', 'In this organization only an admin or owner may confirm machines. Ask one.');

const SENTENCES = {
  authorization_pending: 'Nobody has confirmed the sign-in yet. Ask again.',
  slow_down: `Ask every ${DEVICE_INTERVAL} s at most.`,
  access_denied: 'The sign-in was refused in the dashboard.',
  expired_token: 'This sign-in has expired, or its secret was already collected. Start a new one.',
} satisfies Partial<Record<ProblemCode, string>>;

const notYet = (code: keyof typeof SENTENCES) => new Problem(code, SENTENCES[code]);

const isHasty = ({ polled_at }: DeviceSignInRow, now: number) =>
  polled_at !== null && now - polled_at < DEVICE_INTERVAL * 1_000 - TOLERANCE_MS;

/**
 * Whether the secret may be bound to the machine with this name, which gives control over the sessions that it captured. Two
 * laptops may have the same name, so only its own person may bind a machine. An admin must confirm a machine without an owner.
 */
const mayBind = (machine: EnvironmentRow | undefined, { user_id, role }: MemberRow) =>
  machine?.user_id === null ? role !== 'member' : machine?.user_id === user_id;

/** The owner of the secret, and its name: the host name, cut to 200 characters. */
function approvedOf({ organization_id, decided_by, plane, hostname }: DeviceSignInRow) {
  if (organization_id === null || decided_by === null || plane === null) throw new Error('approved by nobody');
  return { organizationId: organization_id, createdBy: decided_by, plane, name: [...hostname].slice(0, 200).join('') };
}

const toDevice = (row: DeviceSignInRow): DeviceSignIn => ({
  hostname: row.hostname,
  platform: row.platform,
  serviceCliVersion: row.cli_version,
  address: row.address,
  purpose: row.purpose,
  status: row.status,
  createdAt: toTimestamp(row.created_at),
  expiresAt: toTimestamp(row.expires_at),
});
