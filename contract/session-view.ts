import { type Static, Type } from 'typebox';
import { Id, OneOf, Timestamp } from './common.ts';

/**
 * How a member looked at a session: they opened its page, exported all of its events at once, or saw parts of it in
 * search results.
 */
export const LOOKS = ['opened', 'found', 'exported'] as const;
export type Look = (typeof LOOKS)[number];

export const SURFACES = ['dashboard', 'api'] as const;
export type Surface = (typeof SURFACES)[number];

/** A member's looks of one kind at a session within an hour. */
export const SessionView = Type.Object({
  userId: Id('usr'),
  kind: OneOf(LOOKS),
  firstAt: Timestamp,
  lastAt: Timestamp,
  count: Type.Integer({ minimum: 1 }),
  surface: OneOf(SURFACES, 'of the last look'),
  network: Type.String({ description: 'of the last look: the /24 of an IPv4 address, or the /48 of an IPv6 address' }),
});
export type SessionView = Static<typeof SessionView>;

export const SessionViews = Type.Object({
  isRecorded: Type.Boolean({ description: 'whether the organization currently records who looks' }),
  views: Type.Array(SessionView, { description: 'the latest first, at most 500' }),
});
export type SessionViews = Static<typeof SessionViews>;
