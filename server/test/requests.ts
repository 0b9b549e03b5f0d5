import { address } from '../../contract/client.ts';
import { EXTENSIONS, type ExtensionName } from '../../contract/extensions.ts';
import type { Auth, Route } from '../../contract/route.ts';
import { ROUTES, type RouteName } from '../../contract/routes.ts';
import type { CallOptions, TestReply, TestService } from './harness.ts';
import type { World } from './world.ts';

export type AnyRouteName = RouteName | ExtensionName;

/** The contract's routes and their extensions in one table. */
export const TABLE = { ...ROUTES, ...EXTENSIONS } as Record<AnyRouteName, Route>;
export const ROUTE_NAMES = Object.keys(TABLE) as AnyRouteName[];

/** The parts of a route's request besides its credential. */
export interface Ask {
  params?: Record<string, string>;
  query?: Record<string, string | number>;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A public key in the form in which a machine sends it. */
export const MACHINE_KEY = `MCowBQYDK2VwAyEA${'A'.repeat(43)}=`;

/** A valid request for each route, about things that the world holds. */
export const RIGHT: Record<AnyRouteName, (world: World) => Ask> = {
  getHealth: () => ({}),
  getConfig: () => ({}),
  registerEnvironment: () => ({ body: { hostname: 'ours-host', platform: 'linux', serviceCliVersion: '1.0.0' } }),
  heartbeat: ({ ours }) => ({ params: { environmentId: ours.environmentId } }),
  reportHealth: ({ ours }) => ({ params: { environmentId: ours.environmentId }, body: { waiting: 0, states: [] } }),
  listMachineHealth: () => ({}),
  registerAgent: ({ ours }) => ({ params: { environmentId: ours.environmentId }, body: { agentId: 'amp' } }),
  openSession: ({ ours }) => ({
    body: { environmentId: ours.environmentId, agentInstallationId: ours.installationId },
  }),
  appendEvents: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { events: [{ eventType: 'notice' }] } }),
  completeSession: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  createOrganization: () => ({ body: { name: 'Example' } }),
  getOrganization: () => ({}),
  renameOrganization: () => ({ body: { name: 'ours' } }),
  listMembers: () => ({}),
  inviteMember: () => ({ body: { email: 'new@example.com' } }),
  issueSecret: () => ({}),
  listSecrets: () => ({}),
  revokeSecret: ({ ours }) => ({ params: { secretId: ours.secretId } }),
  listEnvironments: () => ({}),
  getEnvironment: ({ ours }) => ({ params: { environmentId: ours.environmentId } }),
  revokeEnvironment: ({ ours }) => ({ params: { environmentId: ours.environmentId } }),
  listAgents: () => ({}),
  listInstallations: () => ({}),
  createInstallation: () => ({ body: { agentId: 'amp' } }),
  updateInstallation: ({ ours }) => ({ params: { installationId: ours.installationId }, body: { version: '2' } }),
  listSessions: () => ({}),
  getSession: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  listSessionEvents: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  getPerson: () => ({}),
  acceptInvitation: ({ ours }) => ({ body: { organizationId: ours.organizationId } }),
  leaveOrganization: () => ({}),
  deleteAccount: () => ({}),
  deleteOrganization: () => ({ body: { name: 'another name' } }),
  listInvitations: () => ({}),
  repeatInvitation: ({ ours }) => ({ params: { userId: ours.userId } }),
  changeRole: ({ ours }) => ({ params: { userId: ours.memberId }, body: { role: 'member' } }),
  removeMember: ({ ours }) => ({ params: { userId: ours.userId } }),
  passOwnership: ({ ours }) => ({ body: { userId: ours.ownerId } }),
  identifySecret: () => ({}),
  setMachinePerson: ({ ours }) => ({
    params: { environmentId: ours.environmentId },
    body: { userId: ours.memberId },
  }),
  startDeviceSignIn: () => ({ body: { hostname: 'laptop', platform: 'linux', serviceCliVersion: '1.0.0' } }),
  collectDeviceSecret: ({ ours }) => ({ body: { deviceCode: ours.deviceCode } }),
  collectReadingToken: ({ ours }) => ({ body: { deviceCode: ours.readingCode } }),
  getDeviceSignIn: ({ ours }) => ({ query: { userCode: ours.userCode } }),
  decideDeviceSignIn: ({ ours }) => ({ body: { userCode: ours.userCode, decision: 'approve' } }),
  openPastSession: ({ ours }) => ({
    body: {
      environmentId: ours.environmentId,
      agentInstallationId: ours.installationId,
      startedAt: '2020-01-01T00:00:00.000Z',
    },
  }),
  captureSessions: (world) => ({ body: { sessions: [capturing(world, 'k'.repeat(16))] } }),
  appendBatches: ({ ours }) => ({
    body: {
      appends: [{ sessionId: ours.sessionId, idempotencyKey: 'right', body: { events: [{ eventType: 'notice' }] } }],
    },
  }),
  completeSessions: ({ ours }) => ({ body: { sessions: [{ sessionId: ours.sessionId }] } }),
  deleteCapturedSession: ({ ours }) => ({ params: { clientKey: ours.clientKey } }),
  restrictSession: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { visibility: 'team' } }),
  changeVisibility: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { visibility: 'team' } }),
  forgetDeletion: ({ ours }) => ({ params: { sessionId: ours.spareSessionId } }),
  deleteSession: ({ ours }) => ({ params: { sessionId: ours.spareSessionId } }),
  listSessionSummaries: ({ ours }) => ({ query: { sessionIds: ours.sessionId } }),
  searchSessions: () => ({ query: { q: 'hello' } }),
  findInSession: ({ ours }) => ({ params: { sessionId: ours.sessionId }, query: { q: 'hello' } }),
  getSessionFacts: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  getSessionIndex: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  getUsage: () => ({}),
  getPolicy: () => ({}),
  replacePolicy: () => ({ body: { signIn: 'members' } }),
  previewRetention: () => ({ body: { retention: [] } }),
  getDirectory: () => ({}),
  issueDirectoryToken: () => ({}),
  revokeDirectoryToken: () => ({}),
  getScimConfiguration: () => ({}),
  listScimSchemas: () => ({}),
  listScimResourceTypes: () => ({}),
  listScimUsers: () => ({}),
  createScimUser: () => ({ body: { userName: 'new-in-directory@example.com' } }),
  getScimUser: ({ ours }) => ({ params: { directoryUserId: ours.directoryUserId } }),
  replaceScimUser: ({ ours }) => ({
    params: { directoryUserId: ours.directoryUserId },
    body: { userName: 'ours-directory@example.com', active: false },
  }),
  changeScimUser: ({ ours }) => ({
    params: { directoryUserId: ours.directoryUserId },
    body: { Operations: [{ op: 'replace', path: 'displayName', value: 'Ours' }] },
  }),
  deleteScimUser: ({ ours }) => ({ params: { directoryUserId: ours.directoryUserId } }),
  listAudit: () => ({}),
  streamAuditEvents: () => ({}),
  showEvidence: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  countersignSession: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { machineKey: MACHINE_KEY } }),
  maskEverywhere: () => ({ body: { text: 'nowhere to be found' } }),
  listMaskRuns: () => ({}),
  cancelMaskRun: ({ ours }) => ({ params: { runId: ours.runId } }),
  listMasks: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  maskText: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { text: 'nowhere to be found' } }),
  listSessionViews: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  listRepositories: () => ({}),
  listSessionSenders: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  getAuditHead: () => ({}),
  listAddOns: () => ({}),
  getDeletionReceipt: ({ ours }) => ({ params: { sessionId: ours.spareSessionId } }),
  getStorage: () => ({}),
  listHolds: () => ({}),
  placeHold: ({ ours }) => ({ body: { target: { kind: 'session', id: ours.closedSessionId }, reason: 'a lawsuit' } }),
  releaseHold: ({ ours }) => ({ params: { holdId: ours.releasedHoldId } }),
  listViews: () => ({}),
  saveView: () => ({ body: { name: 'red', search: { q: 'tests:red' } } }),
  changeView: ({ ours }) => ({ params: { viewId: ours.viewId }, body: { name: 'green' } }),
  deleteView: ({ ours }) => ({ params: { viewId: ours.viewId } }),
  getEventWindow: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  listEventDigests: ({ ours }) => ({ body: { nonce: 'a'.repeat(22), sessions: [{ sessionId: ours.sessionId }] } }),
  streamChanges: () => ({}),
  createShare: ({ ours, service }) => ({
    params: { sessionId: ours.sessionId },
    body: {
      audience: 'organization',
      level: 'full',
      expiresAt: new Date(service.clock.now + 86_400_000).toISOString(),
    },
  }),
  listShares: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
  revokeShare: ({ ours }) => ({ params: { sessionId: ours.closedSessionId, shareId: ours.spareShareId } }),
  getShare: ({ ours }) => ({ params: { token: ours.shareToken } }),
  listSharedEvents: ({ ours }) => ({ params: { token: ours.shareToken } }),
};

/** A session in the form in which a client captures it. */
export const capturing = ({ ours }: World, clientKey: string) => ({
  clientKey,
  environmentId: ours.environmentId,
  agentInstallationId: ours.installationId,
});

/** A caller who may call routes of each kind. */
export const RIGHT_CALLER: Record<Auth, (world: World) => string | undefined> = {
  public: () => undefined,
  visitor: ({ ours }) => ours.member,
  secret: ({ ours }) => ours.live,
  user: ({ stranger }) => stranger,
  member: ({ ours }) => ours.member,
  admin: ({ ours }) => ours.admin,
  directory: ({ ours }) => ours.directoryToken,
};

/** Calls the route; `as` is a bearer credential. */
export function request(
  service: TestService,
  name: AnyRouteName,
  ask: Ask,
  as?: string,
  more: Pick<CallOptions, 'beforeLastByte'> = {},
): Promise<TestReply> {
  const { method, path } = TABLE[name];
  const options: CallOptions = { as, headers: ask.headers ?? {}, ...more };
  if ('body' in ask) options.body = ask.body;
  return service.call(method, address('', { path }, { ...ask.params, query: ask.query }), options);
}
