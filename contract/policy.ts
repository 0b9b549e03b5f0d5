import { type Static, Type } from 'typebox';
import { Body, OneOf } from './common.ts';
import { VISIBILITIES } from './session.ts';

/** Who may confirm the sign-in of a machine: each member for their own, or admins alone. */
export const SIGN_IN = ['members', 'admins'] as const;

/** What an owner sets. A field that is left out has its value of `DEFAULT_POLICY`. */
export const PolicyBody = Body({
  signIn: Type.Optional(OneOf(SIGN_IN)),
  visibility: Type.Optional(OneOf(VISIBILITIES, 'of sessions to come, where their machine asks for nothing stricter')),
  adminsSeeAll: Type.Optional(
    Type.Boolean({ description: 'whether owners and admins read every session; all members are shown that they do' }),
  ),
  groupByPerson: Type.Optional(
    Type.Boolean({ description: 'whether the overview and the add-ons tell the figures of people by name' }),
  ),
  smallestGroup: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: 1_000,
      description: 'how many people figures must be of, so that they are told apart by name',
    }),
  ),
  recordViews: Type.Optional(
    Type.Boolean({ description: 'whether the person of a session is shown who looked at it' }),
  ),
});
export type PolicyBody = Static<typeof PolicyBody>;

/** What holds in an organization: every field has a value. */
export const Policy = Type.Required(PolicyBody);
export type Policy = Static<typeof Policy>;

/** When figures are told of people by name. */
export type Grouping = Pick<Policy, 'groupByPerson' | 'smallestGroup'>;

/** What holds where an owner has set nothing. A small team notices none of it. */
export const DEFAULT_POLICY: Policy = {
  signIn: 'members',
  visibility: 'team',
  adminsSeeAll: false,
  groupByPerson: false,
  smallestGroup: 5,
  recordViews: true,
};
