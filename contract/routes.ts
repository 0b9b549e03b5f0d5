import { Type } from 'typebox';
import {
  AgentDefinition,
  CreateInstallationBody,
  Installation,
  RegisterAgentBody,
  RegisteredAgent,
  UpdateInstallationBody,
} from './agent.ts';
import { BootstrapConfig, Health } from './bootstrap.ts';
import { Envelope } from './common.ts';
import {
  Environment,
  Heartbeat,
  HeartbeatBody,
  RegisterEnvironmentBody,
  RegisteredEnvironment,
} from './environment.ts';
import { AppendBody, Appended, EventPage, EventQuery, MAX_APPEND_BYTES } from './event.ts';
import { CreatedOrganization, Invitation, InviteBody, Member, Organization, OrganizationName } from './organization.ts';
import { route } from './route.ts';
import { IssuedSecret, IssueSecretBody, Secret } from './secret.ts';
import {
  CompletedSession,
  CompleteSessionBody,
  OpenedSession,
  OpenSessionBody,
  Session,
  SessionPage,
  SessionQuery,
} from './session.ts';

/** THE TABLE: the 26 routes of the interface. Server binding, OpenAPI and the typed client come from it. */
export const ROUTES = {
  // Public
  getHealth: route({
    method: 'GET',
    path: '/health',
    auth: 'public',
    summary: 'Tell whether the service works',
    replies: { 200: Health },
    errors: [429, 503],
  }),
  getConfig: route({
    method: 'GET',
    path: '/config',
    auth: 'public',
    summary: 'Tell the browser where to sign in',
    replies: { 200: BootstrapConfig },
    errors: [429, 503],
  }),

  // Ingest
  registerEnvironment: route({
    method: 'POST',
    path: '/v1/environments',
    auth: 'secret',
    summary: 'Register or update a developer machine',
    body: RegisterEnvironmentBody,
    replies: { 200: RegisteredEnvironment, 201: RegisteredEnvironment },
    errors: [400, 401, 429, 503],
  }),
  heartbeat: route({
    method: 'POST',
    path: '/v1/environments/{environmentId}/heartbeat',
    auth: 'secret',
    summary: 'Refresh the last-seen time of a machine',
    body: HeartbeatBody,
    bodyOptional: true,
    replies: { 200: Heartbeat },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  registerAgent: route({
    method: 'POST',
    path: '/v1/environments/{environmentId}/agents',
    auth: 'secret',
    summary: 'Register or update an agent on a machine',
    body: RegisterAgentBody,
    replies: { 201: RegisteredAgent },
    errors: [400, 401, 404, 429, 503],
  }),
  openSession: route({
    method: 'POST',
    path: '/v1/sessions',
    auth: 'secret',
    summary: 'Open a session',
    body: OpenSessionBody,
    replies: { 201: OpenedSession },
    errors: [400, 401, 429, 503],
  }),
  appendEvents: route({
    method: 'POST',
    path: '/v1/sessions/{sessionId}/events',
    auth: 'secret',
    summary: 'Append 1 to 50 events to a session',
    headers: { 'Idempotency-Key': 'Makes a retry safe; 1 to 255 visible ASCII characters. Wins over the body field.' },
    body: AppendBody,
    rawBody: true,
    maxBodyBytes: MAX_APPEND_BYTES,
    replies: { 200: Appended, 202: Appended },
    errors: [400, 401, 404, 409, 503],
  }),
  completeSession: route({
    method: 'POST',
    path: '/v1/sessions/{sessionId}/complete',
    auth: 'secret',
    summary: 'Close a session',
    body: CompleteSessionBody,
    bodyOptional: true,
    replies: { 200: CompletedSession },
    errors: [400, 401, 404, 409, 429, 503],
  }),

  // Organization
  createOrganization: route({
    method: 'POST',
    path: '/v1/organizations',
    auth: 'user',
    summary: 'Create an organization for a person who has none',
    body: OrganizationName,
    replies: { 201: CreatedOrganization },
    errors: [400, 401, 403, 409, 429, 502, 503],
  }),
  getOrganization: route({
    method: 'GET',
    path: '/v1/organizations/me',
    auth: 'member',
    summary: "Show the caller's organization",
    replies: { 200: Organization },
    errors: [401, 403, 429, 503],
  }),
  renameOrganization: route({
    method: 'PATCH',
    path: '/v1/organizations/me',
    auth: 'admin',
    summary: 'Replace the display name',
    body: OrganizationName,
    replies: { 200: Organization },
    errors: [400, 401, 403, 429, 503],
  }),
  listMembers: route({
    method: 'GET',
    path: '/v1/organizations/me/members',
    auth: 'member',
    summary: 'List active and invited members',
    replies: { 200: Envelope('users', Type.Array(Member)) },
    errors: [401, 403, 429, 503],
  }),
  inviteMember: route({
    method: 'POST',
    path: '/v1/organizations/me/members',
    auth: 'admin',
    summary: 'Invite a person by e-mail',
    body: InviteBody,
    replies: { 201: Invitation },
    errors: [400, 401, 403, 409, 429, 502, 503],
  }),

  // Secrets
  issueSecret: route({
    method: 'POST',
    path: '/v1/organizations/me/secrets',
    auth: 'admin',
    summary: 'Issue an organization secret; its value is shown this once',
    body: IssueSecretBody,
    bodyOptional: true,
    replies: { 201: IssuedSecret },
    errors: [400, 401, 403, 429, 503],
  }),
  listSecrets: route({
    method: 'GET',
    path: '/v1/organizations/me/secrets',
    auth: 'member',
    summary: 'List secrets, revoked ones included, newest first',
    replies: { 200: Envelope('secrets', Type.Array(Secret)) },
    errors: [401, 403, 429, 503],
  }),
  revokeSecret: route({
    method: 'DELETE',
    path: '/v1/organizations/me/secrets/{secretId}',
    auth: 'admin',
    summary: 'Revoke a secret',
    replies: { 200: Envelope('secret', Secret) },
    errors: [401, 403, 404, 429, 503],
  }),

  // Environments
  listEnvironments: route({
    method: 'GET',
    path: '/v1/organizations/me/environments',
    auth: 'member',
    summary: 'List developer machines',
    replies: { 200: Envelope('environments', Type.Array(Environment)) },
    errors: [401, 403, 429, 503],
  }),
  getEnvironment: route({
    method: 'GET',
    path: '/v1/organizations/me/environments/{environmentId}',
    auth: 'member',
    summary: 'Show a developer machine',
    replies: { 200: Envelope('environment', Environment) },
    errors: [401, 403, 404, 429, 503],
  }),
  revokeEnvironment: route({
    method: 'DELETE',
    path: '/v1/organizations/me/environments/{environmentId}',
    auth: 'admin',
    summary: 'Revoke a developer machine and close its open sessions as failed',
    replies: { 200: Envelope('environment', Environment) },
    errors: [400, 401, 403, 404, 429, 503],
  }),

  // Agents
  listAgents: route({
    method: 'GET',
    path: '/v1/agents',
    auth: 'member',
    summary: 'List the agent catalog',
    replies: { 200: Envelope('agents', Type.Array(AgentDefinition)) },
    errors: [401, 403, 429, 503],
  }),
  listInstallations: route({
    method: 'GET',
    path: '/v1/organizations/me/agents',
    auth: 'member',
    summary: 'List agent installations',
    replies: { 200: Envelope('installations', Type.Array(Installation)) },
    errors: [401, 403, 429, 503],
  }),
  createInstallation: route({
    method: 'POST',
    path: '/v1/organizations/me/agents',
    auth: 'admin',
    summary: 'Create an agent installation',
    body: CreateInstallationBody,
    replies: { 201: Envelope('installation', Installation) },
    errors: [400, 401, 403, 429, 503],
  }),
  updateInstallation: route({
    method: 'PATCH',
    path: '/v1/organizations/me/agents/{installationId}',
    auth: 'admin',
    summary: 'Change, disable or enable an agent installation',
    body: UpdateInstallationBody,
    replies: { 200: Envelope('installation', Installation) },
    errors: [400, 401, 403, 404, 429, 503],
  }),

  // Session review
  listSessions: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions',
    auth: 'member',
    summary: 'List sessions, newest first',
    query: SessionQuery,
    replies: { 200: SessionPage },
    errors: [400, 401, 403, 429, 503],
  }),
  getSession: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}',
    auth: 'member',
    summary: 'Show a session',
    replies: { 200: Envelope('session', Session) },
    errors: [401, 403, 404, 429, 503],
  }),
  listSessionEvents: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/events',
    auth: 'member',
    isForReading: true,
    summary: 'Page through the events of a session',
    query: EventQuery,
    replies: { 200: EventPage },
    errors: [400, 401, 403, 404, 429, 503],
  }),
};

export type Routes = typeof ROUTES;
export type RouteName = keyof Routes;
