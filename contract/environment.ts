import { type Static, Type } from 'typebox';
import { Body, Id, OneLine, OneOf, Text, Timestamp } from './common.ts';

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
});
export type Environment = Static<typeof Environment>;

/** Absolute as POSIX, a Windows drive or a UNC share writes it. */
const ABSOLUTE_PATH = '^(/|[A-Za-z]:[\\\\/]|\\\\\\\\)[^\\u0000]*$';

export const RegisterEnvironmentBody = Body({
  displayName: Type.Optional(Text(200)),
  hostname: OneLine(255),
  platform: OneOf(PLATFORMS),
  repoRoot: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, pattern: ABSOLUTE_PATH })),
  repoRemote: Type.Optional(Text(4096)),
  gitBranch: Type.Optional(Text(4096)),
  serviceCliVersion: Text(64),
});
export type RegisterEnvironmentBody = Static<typeof RegisterEnvironmentBody>;

export const RegisteredEnvironment = Type.Object({ environmentId: Id('env'), environment: Environment });

export const HeartbeatBody = Body({ serviceCliVersion: Type.Optional(Text(64)) });
export const Heartbeat = Type.Object({ environmentId: Id('env'), lastSeenAt: Timestamp });
