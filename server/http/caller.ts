import type { Role } from '../../contract/organization.ts';
import type { Auth } from '../../contract/route.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Claims } from '../claims.ts';
import type { Caller } from '../store/people.ts';

/** The holder of an organization secret. */
export interface SecretCaller {
  secretId: string;
  organizationId: string;
  plane: Plane;
}

/** A signed-in person, in an organization or not. */
export interface UserCaller extends Caller {
  claims: Claims;
}

/** A signed-in member of an organization. */
export interface MemberCaller extends UserCaller {
  organizationId: string;
  role: Role;
}

/** Who calls, by the route's `auth`. */
export interface Callers {
  public: undefined;
  secret: SecretCaller;
  user: UserCaller;
  member: MemberCaller;
  admin: MemberCaller;
}

export type CallerOf<Kind extends Auth> = Callers[Kind];
