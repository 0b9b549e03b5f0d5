import type { Auth } from '../../contract/route.ts';
import { type AnyRouteName, TABLE } from './requests.ts';

interface Kind {
  /** Heading of the column in docs/authorization.md. */
  heading: string;
  credential: 'none' | 'secret' | 'person' | 'directory';
  /** The most that the person may do; only for persons. */
  may?: readonly Auth[];
  /** Belongs to another organization than the thing that the request names. */
  isForeign?: true;
}

const ANYONE_SIGNED_IN = ['user', 'visitor'] as const;
const MEMBERS = [...ANYONE_SIGNED_IN, 'member'] as const;
const ADMINS = [...MEMBERS, 'admin'] as const;

/** Every kind of caller. On each route all of them send the same request about a thing of one organization. */
export const KINDS = {
  nobody: { heading: 'no credential', credential: 'none' },
  malformed: { heading: 'malformed or unknown', credential: 'none' },
  forged: { heading: 'forged token', credential: 'none' },
  expired: { heading: 'expired token', credential: 'none' },
  revoked: { heading: 'revoked secret', credential: 'none' },
  foreignSecret: { heading: 'secret elsewhere', credential: 'secret', isForeign: true },
  testSecret: { heading: 'secret, test plane', credential: 'secret' },
  otherMachine: { heading: 'secret of another machine', credential: 'secret' },
  machine: { heading: 'secret of the machine', credential: 'secret' },
  secret: { heading: 'secret', credential: 'secret' },
  foreignDirectory: { heading: 'directory elsewhere', credential: 'directory', isForeign: true },
  directory: { heading: 'directory', credential: 'directory' },
  stranger: { heading: 'no organization', credential: 'person', may: ANYONE_SIGNED_IN },
  foreignMember: { heading: 'member elsewhere', credential: 'person', may: MEMBERS, isForeign: true },
  foreignAdmin: { heading: 'admin elsewhere', credential: 'person', may: ADMINS, isForeign: true },
  member: { heading: 'member', credential: 'person', may: MEMBERS },
  admin: { heading: 'admin', credential: 'person', may: ADMINS },
  owner: { heading: 'owner', credential: 'person', may: ADMINS },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

/** A route that answers some callers differently from the rule. */
export interface Exception {
  callers: readonly KindName[];
  status: number;
  why: string;
}

const WITH_ORGANIZATION = ['foreignMember', 'foreignAdmin', 'member', 'admin', 'owner'] as const;

/** Why a request that names another organization's thing in its body is malformed. */
const NAMES_FOREIGN = "The body names a machine that the caller's organization does not have.";

const LAST_OWNER = 'An organization keeps at least one owner.';

const OWNERS_ONLY = 'Only an owner may do this.';

const BELONGS = 'A person belongs to one organization at a time.';

const OTHER_PLANE = 'A secret sees only the sessions of its own plane.';

const OTHER_PERSON = 'A machine writes only to sessions of its own, or of another machine of the same person.';

const OF_MEMBERS =
  'Only members of the organization may see the share, so others get the same answer as for an unknown share.';

const UNSHARED_VIEW = 'A view that is not shared exists only for the person who saved it.';

export const EXCEPTIONS: Partial<Record<AnyRouteName, readonly Exception[]>> = {
  registerEnvironment: [
    { callers: ['foreignSecret'], status: 201, why: 'Machines of two organizations may have the same name.' },
  ],
  openSession: [{ callers: ['foreignSecret'], status: 400, why: NAMES_FOREIGN }],
  openPastSession: [{ callers: ['foreignSecret'], status: 400, why: NAMES_FOREIGN }],
  appendEvents: [
    { callers: ['testSecret'], status: 404, why: OTHER_PLANE },
    { callers: ['otherMachine'], status: 404, why: OTHER_PERSON },
  ],
  completeSession: [
    { callers: ['testSecret'], status: 404, why: OTHER_PLANE },
    { callers: ['otherMachine'], status: 404, why: OTHER_PERSON },
  ],
  deleteCapturedSession: [
    { callers: ['testSecret'], status: 404, why: OTHER_PLANE },
    { callers: ['otherMachine'], status: 403, why: 'A machine may delete only sessions that it captured.' },
  ],
  restrictSession: [
    { callers: ['testSecret'], status: 404, why: OTHER_PLANE },
    {
      callers: ['otherMachine'],
      status: 404,
      why: 'A machine that may not restrict the session gets the same answer as for an unknown session.',
    },
  ],
  countersignSession: [
    { callers: ['testSecret'], status: 404, why: OTHER_PLANE },
    { callers: ['otherMachine'], status: 404, why: 'A machine may name its key only for its own sessions.' },
  ],
  createOrganization: [{ callers: WITH_ORGANIZATION, status: 409, why: BELONGS }],
  acceptInvitation: [
    { callers: WITH_ORGANIZATION, status: 409, why: BELONGS },
    { callers: ['stranger'], status: 404, why: 'Nobody invited this person.' },
  ],
  leaveOrganization: [{ callers: ['owner'], status: 409, why: LAST_OWNER }],
  deleteAccount: [{ callers: ['owner'], status: 409, why: LAST_OWNER }],
  deleteOrganization: [{ callers: ['admin', 'foreignAdmin'], status: 403, why: OWNERS_ONLY }],
  issueDirectoryToken: [{ callers: ['admin', 'foreignAdmin'], status: 403, why: OWNERS_ONLY }],
  revokeDirectoryToken: [{ callers: ['admin', 'foreignAdmin'], status: 403, why: OWNERS_ONLY }],
  replacePolicy: [{ callers: ['admin', 'foreignAdmin'], status: 403, why: OWNERS_ONLY }],
  passOwnership: [
    { callers: ['admin'], status: 403, why: OWNERS_ONLY },
    {
      callers: ['foreignAdmin'],
      status: 404,
      why: "The body names a member whom the caller's organization does not have.",
    },
  ],
  placeHold: [
    {
      callers: ['foreignAdmin'],
      status: 404,
      why: "The body names a session that the caller's organization does not have.",
    },
  ],
  changeVisibility: [
    { callers: ['member'], status: 403, why: 'Only an admin may change the visibility of a session without a person.' },
  ],
  listSessionViews: [
    { callers: ['member'], status: 403, why: 'Only admins see who looked at a session without a person.' },
  ],
  revokeShare: [
    {
      callers: ['member'],
      status: 404,
      why: 'Only the maker of a share, the person of its session or an admin may revoke it.',
    },
  ],
  cancelMaskRun: [{ callers: ['owner'], status: 404, why: 'A run exists only for the person who started it.' }],
  getShare: [{ callers: ['stranger'], status: 404, why: OF_MEMBERS }],
  listSharedEvents: [{ callers: ['stranger'], status: 404, why: OF_MEMBERS }],
  changeView: [{ callers: ['admin', 'owner'], status: 404, why: UNSHARED_VIEW }],
  deleteView: [{ callers: ['admin', 'owner'], status: 404, why: UNSHARED_VIEW }],
};

export const exceptionOf = (route: AnyRouteName, caller: KindName): Exception | undefined =>
  EXCEPTIONS[route]?.find(({ callers }) => callers.includes(caller));

/** The status that a caller gets. A new route follows the rule without an entry here. */
export function statusFor(route: AnyRouteName, caller: KindName): number {
  const { auth, path, replies } = TABLE[route];
  const success = Number(Object.keys(replies)[0]);
  const kind: Kind = KINDS[caller];
  const exception = exceptionOf(route, caller);
  if (exception) return exception.status;
  if (auth === 'public') return success;
  if (kind.credential !== (auth === 'secret' || auth === 'directory' ? auth : 'person')) return 401;
  if (kind.may && !kind.may.includes(auth)) return 403;
  return kind.isForeign && path.includes('{') ? 404 : success;
}
