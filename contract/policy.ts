import { type Static, Type } from 'typebox';
import { Body, OneOf } from './common.ts';
import { RetentionBounds, RetentionRules } from './retention.ts';
import { VISIBILITIES } from './session.ts';
import { MAX_SHARE_DAYS } from './share.ts';

/** Who may confirm the sign-in of a machine: each member for their own machine, or only admins. */
export const SIGN_IN = ['members', 'admins'] as const;

/** What an owner sets. A field that is left out has its value of `DEFAULT_POLICY`. */
export const PolicyBody = Body({
  signIn: Type.Optional(OneOf(SIGN_IN)),
  visibility: Type.Optional(OneOf(VISIBILITIES, 'of new sessions, unless their machine requests a stricter one')),
  adminsSeeAll: Type.Optional(
    Type.Boolean({ description: 'whether owners and admins read every session; all members can see this setting' }),
  ),
  groupByPerson: Type.Optional(
    Type.Boolean({ description: 'whether the overview and the add-ons show the figures of people by name' }),
  ),
  smallestGroup: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: 1_000,
      description: 'the fewest people that figures must cover to name them',
    }),
  ),
  recordViews: Type.Optional(Type.Boolean({ description: 'whether the person of a session sees who looked at it' })),
  linkSharing: Type.Optional(
    OneOf(
      ['off', 'on'],
      'whether sessions may be shared with anybody who has the link; `off` ends these shares at once',
    ),
  ),
  shareDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_SHARE_DAYS,
      description: 'the most days that a share lasts after its creation',
    }),
  ),
  retention: Type.Optional(RetentionRules),
});
export type PolicyBody = Static<typeof PolicyBody>;

/** The policy that applies in an organization: every field has a value. */
export const Policy = Type.Required(PolicyBody);
export type Policy = Static<typeof Policy>;

/** The same, with the operator's bounds. */
export const ShownPolicy = Type.Object({
  ...Policy.properties,
  retentionBounds: RetentionBounds,
  retentionWaits: Type.Optional(
    Type.Boolean({ description: 'nothing is removed now, because the clock of the service may be wrong' }),
  ),
});
export type ShownPolicy = Static<typeof ShownPolicy>;

/** When figures name people. */
export type Grouping = Pick<Policy, 'groupByPerson' | 'smallestGroup'>;

/** The policy if an owner has set nothing. It does not get in the way of a small team. */
export const DEFAULT_POLICY: Policy = {
  signIn: 'members',
  visibility: 'team',
  adminsSeeAll: false,
  groupByPerson: false,
  smallestGroup: 5,
  recordViews: true,
  linkSharing: 'off',
  shareDays: 90,
  retention: [],
};
