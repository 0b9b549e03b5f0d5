import { type Static, Type } from 'typebox';
import { AddOns, AddOnsQuery } from './add-ons.ts';
import {
  BulkAppended,
  BulkIndex,
  CapturedSessions,
  CaptureSessionsBody,
  CompletedSessions,
  CompleteSessionsBody,
  DeletedSession,
  MAX_BATCHES_AT_ONCE,
  MAX_BULK_BYTES,
} from './capture.ts';
import { Body, Envelope, Id, OneOf, Timestamp } from './common.ts';
import { DEVICE_ROUTES } from './device-routes.ts';
import { DigestsBody, DigestsPage } from './digest.ts';
import { DIRECTORY_ROUTES } from './directory-routes.ts';
import { Environment, MachineHealth, MachinePersonBody, MachineReport } from './environment.ts';
import { EventPage } from './event.ts';
import { GOVERNANCE } from './governance.ts';
import {
  DeleteOrganizationBody,
  DepartureQuery,
  Member,
  MembershipBody,
  OfferedInvitation,
  Organization,
  OwnerBody,
  RemovalQuery,
  ROLES,
  RoleBody,
  WaitingInvitation,
} from './organization.ts';
import {
  FindQuery,
  FoundEvents,
  IndexLine,
  SearchPage,
  SearchQuery,
  SessionFacts,
  SessionSummary,
  Usage,
  UsageQuery,
} from './review.ts';
import { route } from './route.ts';
import { PLANES } from './secret.ts';
import { OpenedSession, OpenSessionBody, RepoRemote, VisibilityBody } from './session.ts';
import { SHARE_ROUTES } from './share-routes.ts';
import { ChangeViewBody, SaveViewBody, View } from './view.ts';

/** The signed-in person, and their organization. */
export const Person = Type.Object({
  userId: Id('usr'),
  email: Type.Optional(Type.String()),
  emailVerified: Type.Boolean(),
  role: Type.Optional(OneOf(ROLES)),
  organization: Type.Optional(Organization),
  adminsSeeAll: Type.Optional(
    Type.Boolean({
      description: 'true: owners and admins of the organization read every session, including private ones',
    }),
  ),
  invitations: Type.Optional(
    Type.Array(OfferedInvitation, { description: 'pending invitations of a person without an organization' }),
  ),
  emailTaken: Type.Optional(
    Type.Boolean({ description: 'true: a member with this e-mail signs in with another account or provider' }),
  ),
  mustVerifyEmail: Type.Optional(
    Type.Boolean({ description: 'true: the person may create an organization only once their e-mail is verified' }),
  ),
});
export type Person = Static<typeof Person>;

/** What a holder of a secret may know about it. This suffices for a command-line tool to greet its user. */
export const SecretIdentity = Type.Object({
  secretId: Id('sec'),
  organizationId: Id('org'),
  organizationName: Type.String(),
  secretEnvironment: OneOf(PLANES),
});
export type SecretIdentity = Static<typeof SecretIdentity>;

/** One message of the live stream: the state of a session after a change. */
export const LiveChange = Type.Object({
  sessionId: Id('ses'),
  eventCount: Type.Integer(),
  status: OneOf(['active', 'completed', 'failed', 'deleted']),
});
export type LiveChange = Static<typeof LiveChange>;

/** What the product adds to the 26 routes; none of them depends on a row of this table. */
export const EXTENSIONS = {
  ...GOVERNANCE,
  ...DEVICE_ROUTES,
  ...DIRECTORY_ROUTES,
  ...SHARE_ROUTES,
  getPerson: route({
    method: 'GET',
    path: '/v1/me',
    auth: 'user',
    summary: 'Show the signed-in person and their organization, if any',
    replies: { 200: Person },
    errors: [401, 429, 503],
  }),
  deleteAccount: route({
    method: 'DELETE',
    path: '/v1/me',
    auth: 'user',
    summary: 'Delete what the service knows about the signed-in person; captured sessions stay with the organization',
    query: DepartureQuery,
    replies: { 200: Type.Object({ userId: Id('usr') }) },
    errors: [400, 401, 409, 429, 503],
  }),
  acceptInvitation: route({
    method: 'POST',
    path: '/v1/me/membership',
    auth: 'user',
    summary: 'Join one of the organizations that invited the signed-in person; the others are declined',
    body: MembershipBody,
    replies: { 200: Person },
    errors: [400, 401, 404, 409, 429, 503],
  }),
  leaveOrganization: route({
    method: 'DELETE',
    path: '/v1/me/membership',
    auth: 'member',
    summary:
      'Leave the organization, and revoke the secrets that the person issued or has on their machines; captured sessions stay',
    query: DepartureQuery,
    replies: { 200: Person },
    errors: [400, 401, 403, 409, 429, 503],
  }),
  deleteOrganization: route({
    method: 'POST',
    path: '/v1/organizations/me/deletion',
    auth: 'admin',
    summary: 'Delete the organization with all its data, as an owner; its members and secrets are locked out at once',
    body: DeleteOrganizationBody,
    replies: { 200: Type.Object({ organizationId: Id('org') }) },
    errors: [400, 401, 403, 409, 429, 503],
  }),
  listInvitations: route({
    method: 'GET',
    path: '/v1/organizations/me/invitations',
    auth: 'member',
    summary: 'List pending invitations, and until when their mailed links work',
    replies: { 200: Envelope('invitations', Type.Array(WaitingInvitation)) },
    errors: [401, 403, 429, 503],
  }),
  repeatInvitation: route({
    method: 'POST',
    path: '/v1/organizations/me/members/{userId}/invitation',
    auth: 'admin',
    summary: 'Send an invitation again',
    replies: { 200: WaitingInvitation },
    errors: [401, 403, 404, 429, 502, 503],
  }),
  changeRole: route({
    method: 'PATCH',
    path: '/v1/organizations/me/members/{userId}',
    auth: 'admin',
    summary: 'Change the role of a member or an invitation',
    body: RoleBody,
    replies: { 200: Envelope('user', Member) },
    errors: [400, 401, 403, 404, 409, 429, 503],
  }),
  removeMember: route({
    method: 'DELETE',
    path: '/v1/organizations/me/members/{userId}',
    auth: 'admin',
    summary:
      'Remove a member and revoke the secrets that they issued or have on their machines, or withdraw an invitation; captured sessions stay, unless the request says otherwise',
    query: RemovalQuery,
    replies: { 200: Envelope('user', Member) },
    errors: [400, 401, 403, 404, 409, 429, 503],
  }),
  passOwnership: route({
    method: 'POST',
    path: '/v1/organizations/me/owner',
    auth: 'admin',
    summary: 'Make another member the owner; the calling owner becomes an admin',
    body: OwnerBody,
    replies: { 200: Organization },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  identifySecret: route({
    method: 'GET',
    path: '/v1/secret',
    auth: 'secret',
    summary: 'Show which organization and plane a secret belongs to',
    replies: { 200: SecretIdentity },
    errors: [401, 429, 503],
  }),
  reportHealth: route({
    method: 'POST',
    path: '/v1/environments/{environmentId}/health',
    auth: 'secret',
    summary: 'Report how many events wait on a machine, and why some of them are not sent',
    body: MachineReport,
    replies: { 200: Type.Object({ environmentId: Id('env') }) },
    errors: [400, 401, 404, 429, 503],
  }),
  listMachineHealth: route({
    method: 'GET',
    path: '/v1/organizations/me/machine-health',
    auth: 'member',
    summary: 'Show how the capture of each active machine is doing, and which secrets belong to it',
    replies: { 200: Envelope('machines', Type.Array(MachineHealth)) },
    errors: [401, 403, 429, 503],
  }),
  setMachinePerson: route({
    method: 'PUT',
    path: '/v1/organizations/me/environments/{environmentId}/person',
    auth: 'member',
    summary:
      'Assign a machine to a person, as an admin; a member may claim a machine without an owner, and an admin agrees by assigning it to that member',
    body: MachinePersonBody,
    replies: { 200: Envelope('environment', Environment) },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  openPastSession: route({
    method: 'POST',
    path: '/v1/past-sessions',
    auth: 'secret',
    summary: 'Open a session that started in the past, for captured history',
    body: Body({ ...OpenSessionBody.properties, repoRemote: RepoRemote, startedAt: Timestamp }),
    replies: { 201: OpenedSession },
    errors: [400, 401, 429, 503],
  }),
  captureSessions: route({
    method: 'POST',
    path: '/v1/captured-sessions',
    auth: 'secret',
    summary: "Open sessions under the client's own keys, or find existing ones and their number of events",
    body: CaptureSessionsBody,
    limit: 'backlog',
    replies: { 200: CapturedSessions },
    errors: [400, 401, 429, 503],
  }),
  appendBatches: route({
    method: 'POST',
    path: '/v1/appends',
    auth: 'secret',
    summary:
      'Append many batches to many sessions. The batches of a session are appended in order, up to the first refused one',
    body: BulkIndex,
    frames: {
      most: MAX_BATCHES_AT_ONCE,
      about: 'One frame for each append, in the order of the index: `{"events":[…]}`. Each frame declares its size.',
    },
    maxBodyBytes: MAX_BULK_BYTES,
    limit: 'backlog',
    replies: { 200: BulkAppended },
    errors: [400, 401, 429, 503],
  }),
  completeSessions: route({
    method: 'POST',
    path: '/v1/completed-sessions',
    auth: 'secret',
    summary: 'Close many sessions',
    body: CompleteSessionsBody,
    limit: 'backlog',
    replies: { 200: CompletedSessions },
    errors: [400, 401, 429, 503],
  }),
  deleteCapturedSession: route({
    method: 'DELETE',
    path: '/v1/captured-sessions/{clientKey}',
    auth: 'secret',
    summary:
      'Delete a session by its key, if the calling machine captured it or the same secret opened it within a day; the key is remembered',
    replies: { 200: DeletedSession },
    errors: [400, 401, 403, 404, 409, 429, 503],
  }),
  restrictSession: route({
    method: 'PUT',
    path: '/v1/sessions/{sessionId}/visibility',
    auth: 'secret',
    summary:
      'Restrict who may see a session of the calling machine or its person; it never widens; answers the visibility from now on',
    body: VisibilityBody,
    replies: { 200: VisibilityBody },
    errors: [400, 401, 404, 429, 503],
  }),
  deleteSession: route({
    method: 'DELETE',
    path: '/v1/organizations/me/sessions/{sessionId}',
    auth: 'admin',
    summary: 'Delete a session for good; it is not captured again unless its deletion is forgotten',
    replies: { 200: DeletedSession },
    errors: [400, 401, 403, 404, 409, 429, 503],
  }),
  changeVisibility: route({
    method: 'PUT',
    path: '/v1/organizations/me/sessions/{sessionId}/visibility',
    auth: 'member',
    summary: 'Change who may see a session, as its person; if the session belongs to nobody, as an admin',
    body: VisibilityBody,
    replies: { 200: VisibilityBody },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  forgetDeletion: route({
    method: 'DELETE',
    path: '/v1/organizations/me/deleted-sessions/{sessionId}',
    auth: 'admin',
    summary: 'Let a deleted session be captured again, as a new one: the key of the deleted one is forgotten',
    replies: { 200: DeletedSession },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  listSessionSummaries: route({
    method: 'GET',
    path: '/v1/organizations/me/session-summaries',
    auth: 'member',
    summary: 'Show derived figures of up to 100 sessions',
    query: Type.Object({ sessionIds: Type.String({ description: 'session ids, separated by commas' }) }),
    replies: { 200: Envelope('summaries', Type.Array(SessionSummary)) },
    errors: [400, 401, 403, 429, 503],
  }),
  searchSessions: route({
    method: 'GET',
    path: '/v1/organizations/me/search',
    auth: 'member',
    summary: 'Find sessions by words in their events and by their facts, in any order',
    query: SearchQuery,
    replies: { 200: SearchPage },
    errors: [400, 401, 403, 429, 503],
  }),
  findInSession: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/find',
    auth: 'member',
    summary: 'Find words in a whole session, including long outputs, one range at a time',
    query: FindQuery,
    replies: { 200: FoundEvents },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  getSessionFacts: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/facts',
    auth: 'member',
    summary: 'Show what is known about a session: files, commands, tools, usage, milestones, related sessions',
    replies: { 200: SessionFacts },
    errors: [401, 403, 404, 429, 503],
  }),
  getSessionIndex: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/index',
    auth: 'member',
    summary: 'Read short entries for all events of a session, as lines of JSON',
    query: Type.Object({
      from: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$', description: 'first sequence; default 1' })),
    }),
    replies: { 200: IndexLine },
    contentType: 'application/x-ndjson',
    errors: [400, 401, 403, 404, 429, 503],
  }),
  getUsage: route({
    method: 'GET',
    path: '/v1/organizations/me/usage',
    auth: 'member',
    summary: 'Show figures over all sessions by day, agent, model, repository, machine and person',
    query: UsageQuery,
    replies: { 200: Usage },
    errors: [400, 401, 403, 429, 503],
  }),
  listAddOns: route({
    method: 'GET',
    path: '/v1/organizations/me/add-ons',
    auth: 'member',
    summary: 'Show which MCP servers, skills, sub-agents and plugins are used, by whom, and which fail',
    query: AddOnsQuery,
    replies: { 200: AddOns },
    errors: [400, 401, 403, 429, 503],
  }),
  listViews: route({
    method: 'GET',
    path: '/v1/organizations/me/views',
    auth: 'member',
    summary: 'List the views that the person saved, and those that other members share',
    replies: { 200: Envelope('views', Type.Array(View)) },
    errors: [401, 403, 429, 503],
  }),
  saveView: route({
    method: 'POST',
    path: '/v1/organizations/me/views',
    auth: 'member',
    summary: 'Save a list of sessions under a name, for oneself or for all members',
    body: SaveViewBody,
    replies: { 201: Envelope('view', View) },
    errors: [400, 401, 403, 429, 503],
  }),
  changeView: route({
    method: 'PATCH',
    path: '/v1/organizations/me/views/{viewId}',
    auth: 'member',
    summary: 'Rename, replace, share or unshare one’s own view; admins may also change shared views of others',
    body: ChangeViewBody,
    replies: { 200: Envelope('view', View) },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  deleteView: route({
    method: 'DELETE',
    path: '/v1/organizations/me/views/{viewId}',
    auth: 'member',
    summary: 'Delete one’s own view; admins may also delete shared views of others',
    replies: { 200: Type.Object({ viewId: Id('viw') }) },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  getEventWindow: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/window',
    auth: 'member',
    summary: 'Read events from a sequence number on',
    query: Type.Object({
      from: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$', description: 'first sequence; default 1' })),
      limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,4}$', description: 'default 100' })),
    }),
    replies: { 200: EventPage },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  listEventDigests: route({
    method: 'POST',
    path: '/v1/digests',
    auth: 'secret',
    summary:
      'Show digests of the events of sessions that the calling machine captured, or that have a client key, so that nothing is sent twice',
    body: DigestsBody,
    limit: 'backlog',
    replies: { 200: DigestsPage },
    errors: [400, 401, 429, 503],
  }),
  streamChanges: route({
    method: 'GET',
    path: '/v1/organizations/me/live',
    auth: 'member',
    summary: 'Stream a message for each session that changes',
    query: Type.Object({
      sessionId: Type.Optional(Type.String({ description: 'only this session' })),
    }),
    replies: { 200: LiveChange },
    contentType: 'text/event-stream',
    errors: [400, 401, 403, 429, 503],
  }),
};

export type Extensions = typeof EXTENSIONS;
export type ExtensionName = keyof Extensions;
