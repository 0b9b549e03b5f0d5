import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Text, Timestamp, VisibleText } from './common.ts';

export const HOLD_TARGETS = ['session', 'person', 'repository', 'everything'] as const;

const TargetId = Text(1_000);
const ABOUT_TARGET =
  'id of the session or of the person, or the repository, such as `owner/name` or `github.com/owner/name`; absent for everything';

/** What nobody may delete, including later sessions of the target. */
export const HoldTarget = Body({
  kind: OneOf(HOLD_TARGETS),
  id: Type.Optional({ ...TargetId, description: ABOUT_TARGET }),
});
export type HoldTarget = Static<typeof HoldTarget>;

/** A legal hold. It stays in the list after its release. */
export const Hold = Type.Object({
  holdId: Id('hol'),
  target: HoldTarget,
  sessions: Type.Optional(
    Type.Integer({ minimum: 0, description: 'that it covers now; absent for everything and after its release' }),
  ),
  reason: Type.String(),
  placedBy: Id('usr'),
  placedAt: Timestamp,
  releasedBy: Type.Optional(Id('usr')),
  releasedAt: Type.Optional(Timestamp),
});
export type Hold = Static<typeof Hold>;

export const PlaceHoldBody = Body({ target: HoldTarget, reason: VisibleText(500) });
export type PlaceHoldBody = Static<typeof PlaceHoldBody>;
