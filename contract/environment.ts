import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Text, Timestamp, VisibleText } from './common.ts';

export const PLATFORMS = ['darwin', 'linux', 'win32'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** A developer machine. */
export const Environment = Type.Object({
  environmentId: Id('env'),
  organizationId: Id('org'),
  displayName: Type.Optional(Type.String()),
  hostname: Type.String(),
  platform: OneOf(PLATFORMS),
  serviceCliVersion: Type.String(),
  status: OneOf(['active', 'revoked']),
  lastSeenAt: Timestamp,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  userId: Type.Optional({ ...Id('usr'), description: 'the person of the machine; absent: nobody' }),
  claimedBy: Type.Optional({
    ...Id('usr'),
    description: 'the member who claims it; an admin must agree',
  }),
});
export type Environment = Static<typeof Environment>;

/** The person of a machine; null: nobody. */
export const MachinePersonBody = Body({ userId: Type.Union([Text(64), Type.Null()]) });

/** An absolute path of POSIX, of a Windows drive or of a UNC share. */
const ABSOLUTE_PATH = '^(/|[A-Za-z]:[\\\\/]|\\\\\\\\)[^\\u0000]*$';

export const RegisterEnvironmentBody = Body({
  displayName: Type.Optional(VisibleText(200)),
  hostname: VisibleText(255),
  platform: OneOf(PLATFORMS),
  repoRoot: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, pattern: ABSOLUTE_PATH })),
  repoRemote: Type.Optional(Text(4096)),
  gitBranch: Type.Optional(Text(4096)),
  serviceCliVersion: VisibleText(64),
});
export type RegisterEnvironmentBody = Static<typeof RegisterEnvironmentBody>;

export const RegisteredEnvironment = Type.Object({ environmentId: Id('env'), environment: Environment });

export const HeartbeatBody = Body({ serviceCliVersion: Type.Optional(VisibleText(64)) });
export const Heartbeat = Type.Object({ environmentId: Id('env'), lastSeenAt: Timestamp });

/**
 * Every state in which a machine does not capture or send everything, or may soon not. `capture status` checks each of them
 * and shows the details. The report of the machine and the dashboard know the same states.
 */
export const MACHINE_STATES = [
  'disk',
  'state-folders',
  'sign-in',
  'service',
  'held',
  'held-some',
  'replaced',
  'clock',
  'version',
  'daemon',
  'hooks',
  'reading',
  'pause',
  'deletion',
  'readable',
  'unknown',
  'preferences',
  'full',
  'spool',
  'refused',
  'damaged',
  'redaction',
] as const;
export type MachineState = (typeof MACHINE_STATES)[number];

/** A state of a machine, and when it began and ends, as far as that is known. */
export const ReportedState = Type.Object({
  state: Type.String({
    pattern: '^[a-z-]{1,32}$',
    description: `one of ${MACHINE_STATES.join(', ')}; a later command line may report others`,
  }),
  since: Type.Optional(Timestamp),
  until: Type.Optional({ ...Timestamp, description: 'when it ends by itself' }),
});
export type ReportedState = Static<typeof ReportedState>;

/** The command line's report of its own state. It contains only counts, fixed words and times, and nothing of any session. */
export const MachineReport = Body({
  waiting: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'events in its spool' }),
  states: Type.Array(ReportedState, { maxItems: 64 }),
});
export type MachineReport = Static<typeof MachineReport>;

/** The state of a machine's capture. */
export const MachineHealth = Type.Object({
  environmentId: Id('env'),
  secretIds: Type.Array(Id('sec'), { description: 'the secrets that belong to the machine' }),
  isOutdated: Type.Boolean({ description: 'its command line is older than the one that the service offers' }),
  silentSince: Type.Optional({
    ...Timestamp,
    description: 'time of the last contact, if the silence is longer than any in the four weeks before',
  }),
  reportedAt: Type.Optional(Timestamp),
  waiting: Type.Optional(MachineReport.properties.waiting),
  states: MachineReport.properties.states,
});
export type MachineHealth = Static<typeof MachineHealth>;
