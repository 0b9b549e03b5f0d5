import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Text, Timestamp } from './common.ts';

/** Who may open a share: one member, every member, or anybody who has its link. */
export const SHARE_AUDIENCES = ['person', 'organization', 'link'] as const;
export type ShareAudience = (typeof SHARE_AUDIENCES)[number];

/** What a share shows: everything; everything except the outputs of tools; or only counts. */
export const SHARE_LEVELS = ['full', 'outline', 'figures'] as const;
export type ShareLevel = (typeof SHARE_LEVELS)[number];

/** The longest duration that an owner may set for shares. */
export const MAX_SHARE_DAYS = 365;

const audience = OneOf(SHARE_AUDIENCES, '`link`: anybody who has the link, if the policy allows it');
const level = OneOf(SHARE_LEVELS, '`outline`: without the outputs of tools; `figures`: only counts');
const Sequence = (description: string) => Type.Integer({ minimum: 1, maximum: 2_147_483_647, description });

const Range = {
  from: Type.Optional(Sequence('sequence of the first event; absent: from the start')),
  to: Type.Optional(Sequence('sequence of the last event; absent: to the end, including events that are added later')),
};

export const ShareBody = Body({
  audience,
  userId: Type.Optional({ ...Text(255), description: 'the member, if the audience is a person' }),
  level,
  ...Range,
  expiresAt: Timestamp,
});
export type ShareBody = Static<typeof ShareBody>;

/** A share of a session. The service does not keep its token. */
export const Share = Type.Object({
  shareId: Id('shr'),
  sessionId: Id('ses'),
  by: Id('usr'),
  audience,
  userId: Type.Optional(Id('usr')),
  level,
  ...Range,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  revokedAt: Type.Optional(Timestamp),
  views: Type.Integer({ minimum: 0, description: 'how often it was opened' }),
  lastViewedAt: Type.Optional(Timestamp),
});
export type Share = Static<typeof Share>;

export const CreatedShare = Type.Object({
  share: Share,
  token: Type.String({ description: 'shown this once' }),
  url: Type.String({ description: 'address of the page that shows the share' }),
});
export type CreatedShare = Static<typeof CreatedShare>;

const count = Type.Integer({ minimum: 0 });

/** Counts of a whole session. They reveal none of its content. */
export const SharedFigures = Type.Object({
  prompts: count,
  toolCalls: count,
  failures: count,
  filesChanged: count,
  linesAdded: count,
  linesRemoved: count,
  inputTokens: count,
  cachedTokens: count,
  outputTokens: count,
});
export type SharedFigures = Static<typeof SharedFigures>;

/** What the holder of a token may see of a session, besides its events. */
export const SharedSession = Type.Object({
  level,
  ...Range,
  expiresAt: Timestamp,
  agentId: Type.String(),
  status: OneOf(['active', 'completed', 'failed']),
  startedAt: Timestamp,
  endedAt: Type.Optional(Timestamp),
  eventCount: Type.Integer({ minimum: 0, description: 'of the range, if the share has one' }),
  title: Type.Optional(Type.String({ description: 'absent in figures, and for a range' })),
  repository: Type.Optional(Type.String({ description: 'absent in figures' })),
  figures: Type.Optional({ ...SharedFigures, description: 'absent for a range, and until they are derived' }),
});
export type SharedSession = Static<typeof SharedSession>;

export const ShareEventQuery = Type.Object({
  cursor: Type.Optional(Type.String()),
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,2}$', description: '1 to 999; default 100' })),
});
