import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Text, Timestamp } from './common.ts';
import { PLANES } from './secret.ts';

/**
 * Who may see a session, from open to strict: every member sees everything (`team`); every member sees its facts, but only its
 * person its content (`facts`); only its person sees it (`private`).
 */
export const VISIBILITIES = ['team', 'facts', 'private'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

export const isVisibility = (value: unknown): value is Visibility =>
  VISIBILITIES.some((visibility) => visibility === value);

/** Whether the first lets fewer people see a session than the second. */
export const isStricter = (one: Visibility, other: Visibility): boolean =>
  VISIBILITIES.indexOf(one) > VISIBILITIES.indexOf(other);

/** The strictest of the requested visibilities; `team` if there are none. */
export const strictestOf = (...asked: readonly (Visibility | undefined)[]): Visibility =>
  VISIBILITIES.findLast((visibility) => asked.includes(visibility)) ?? 'team';

/** One run of an agent, as the service keeps it. */
export const Session = Type.Object({
  sessionId: Id('ses'),
  organizationId: Id('org'),
  environmentId: Id('env'),
  agentInstallationId: Id('ins'),
  agentId: Type.String(),
  status: OneOf(['active', 'completed', 'failed']),
  secretEnvironment: OneOf(PLANES),
  title: Type.Optional(Type.String()),
  startedAt: Timestamp,
  endedAt: Type.Optional(Timestamp),
  eventCount: Type.Integer({ minimum: 0 }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  contentExpiredAt: Type.Optional({ ...Timestamp, description: 'when the retention policy removed its content' }),
  visibility: Type.Optional(OneOf(VISIBILITIES, 'absent for `team`, which is every member')),
  mayChangeVisibility: Type.Optional(
    Type.Boolean({ description: 'of a single session: true if the calling member decides who may see it' }),
  ),
});
export type Session = Static<typeof Session>;

/** Sets who may see a session from now on. */
export const VisibilityBody = Body({ visibility: OneOf(VISIBILITIES) });

export const OpenSessionBody = Body({
  environmentId: Text(255),
  agentInstallationId: Text(255),
  agentId: Type.Optional(Text(64)),
  title: Type.Optional(Text(300)),
  repoRoot: Type.Optional(Text(4096)),
  gitBranch: Type.Optional(Text(4096)),
  visibility: Type.Optional(OneOf(VISIBILITIES, 'the default of the organization applies if it is stricter')),
});
export type OpenSessionBody = Static<typeof OpenSessionBody>;

/** The git remote of the session's folder, in any of git's forms. */
export const RepoRemote = Type.Optional(Text(4096));

export const OpenedSession = Type.Object({ sessionId: Id('ses'), session: Session });

export const CompleteSessionBody = Body({
  status: Type.Optional(OneOf(['completed', 'failed'])),
  endedAt: Type.Optional(Timestamp),
});
export const CompletedSession = Type.Object({
  sessionId: Id('ses'),
  status: OneOf(['completed', 'failed']),
  endedAt: Timestamp,
});

/** Query values arrive as strings. An invalid `limit` falls back to the default. */
export const SessionQuery = Type.Object({
  cursor: Type.Optional(Type.String()),
  limit: Type.Optional(Type.String({ description: 'default 50, at most 100; anything else counts as 50' })),
  environmentId: Type.Optional(Type.String()),
  agentId: Type.Optional(Type.String()),
  secretEnvironment: Type.Optional(OneOf([...PLANES, 'all'])),
});

export const SessionPage = Type.Object({
  sessions: Type.Array(Session),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
});
