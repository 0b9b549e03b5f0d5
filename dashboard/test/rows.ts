import type { Member } from '../../contract/organization.ts';
import type { SessionRow } from '../app/queries.ts';

/** An active member as the service returns them. */
export const memberRow = (userId: string, email: string, joinedAt = '2026-11-01T09:00:00.000Z'): Member => ({
  organizationId: 'org_1',
  userId,
  email,
  role: 'member',
  status: 'active',
  joinedAt,
  createdAt: joinedAt,
  updatedAt: joinedAt,
});

/** A session of a list like the service returns it: active, with five events. */
export const sessionRow = (sessionId: string, startedAt = '2026-11-21T09:00:00.000Z', failures = 0): SessionRow => ({
  session: {
    sessionId,
    organizationId: 'org_1',
    environmentId: 'env_1',
    agentInstallationId: 'ins_1',
    agentId: 'codex',
    status: 'active',
    secretEnvironment: 'live',
    startedAt,
    eventCount: 5,
    createdAt: startedAt,
    updatedAt: startedAt,
  },
  summary: {
    sessionId,
    prompts: 0,
    toolCalls: 0,
    failures,
    redactions: 0,
    filesChanged: 0,
    linesAdded: 0,
    linesRemoved: 0,
    inputTokens: 0,
    cachedTokens: 0,
    outputTokens: 0,
    summarizedThrough: 5,
  },
  hits: [],
});
