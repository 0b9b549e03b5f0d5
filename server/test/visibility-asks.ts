import { ORDERS } from '../../contract/review.ts';
import { VISIBILITIES, type Visibility } from '../../contract/session.ts';
import { type AnyRouteName, type Ask, MACHINE_KEY, RIGHT } from './requests.ts';
import type { World } from './world.ts';

/** What the words of a session are in, each with a word of its own that stands nowhere else. */
export const PLACES = ['title', 'prompt', 'content', 'command', 'output', 'diff', 'commit'] as const;
export type Place = (typeof PLACES)[number];

/** The word in one place of the session with that visibility. */
export const canary = (visibility: Visibility, place: Place | 'file'): string => `zq${visibility}${place}`;

/** A session of the member, and what else is asked about it. */
export interface Target {
  visibility: Visibility;
  sessionId: string;
  environmentId: string;
  installationId: string;
  clientKey: string;
  /** Of shares that its person made: with the organization, in figures. */
  shareTokens: string[];
  /** A session that all may read, which continues this one. */
  nextId: string;
}

export const targets = (sessions: Record<Visibility, Target>) => VISIBILITIES.map((one) => sessions[one]);

/** Why a route is not asked: its answer has nothing of any session, and it would change what others ask for. */
type Unasked = string;

const ofSession = ({ sessionId }: Target): Ask[] => [{ params: { sessionId } }];
const right =
  (route: AnyRouteName) =>
  (_: Target, world: World): Ask[] => [RIGHT[route](world)];
const aboutMachine = ({ environmentId }: Target): Ask[] => [{ params: { environmentId } }];

const MEMBERSHIP = 'it is about people and their membership';
const MACHINE = 'it is about a machine or an agent';
const SETTING = 'it is about a setting or a view of a person';
const OTHERS = 'whom it lets do what is in the tables of the route';

const queries = ({ visibility }: Target) => [
  '',
  ...PLACES.map((place) => canary(visibility, place)),
  ...PLACES.map((place) => `-${canary(visibility, place)}`),
  `"${canary(visibility, 'prompt')} text"`,
  `file:${canary(visibility, 'file')}.ts`,
  `file:${canary(visibility, 'file')}.ts ${canary(visibility, 'content')}`,
  `command:${canary(visibility, 'command')}*`,
  'command:git*',
  'tests:red',
  'commit:a*',
  'failed:no',
];

/**
 * What would change a session, of each route that names one: asked by who may not know of it. Appends and closes are not among
 * them: whoever has a secret of the organization and the id of a session may add to it, and is told numbers. Nor is
 * the deletion by a key: whoever can compute it is told that another machine captured the session, as when capturing under it.
 */
export const CHANGES = {
  changeVisibility: ({ sessionId }) => [{ params: { sessionId }, body: { visibility: 'team' } }],
  restrictSession: ({ sessionId }) => [{ params: { sessionId }, body: { visibility: 'private' } }],
  deleteSession: ofSession,
  forgetDeletion: ofSession,
  maskText: ({ sessionId, visibility }) => [
    { params: { sessionId }, body: { text: 'nowhere to be found' } },
    { params: { sessionId }, body: { text: canary(visibility, 'content') } },
  ],
  placeHold: ({ sessionId }) => [{ body: { target: { kind: 'session', id: sessionId }, reason: 'a lawsuit' } }],
  countersignSession: ({ sessionId }) => [{ params: { sessionId }, body: { machineKey: MACHINE_KEY } }],
  createShare: ({ sessionId }) =>
    (['figures', 'full'] as const).flatMap((level) =>
      (['organization', 'link'] as const).map((audience) => ({
        params: { sessionId },
        body: { audience, level, expiresAt: '2026-11-22T00:00:00.000Z' },
      })),
    ),
} satisfies Partial<Record<AnyRouteName, (target: Target) => Ask[]>>;

/** What is asked of each route about a session. A route that is new belongs here, or says why it does not. */
export const ASKS: Record<AnyRouteName, Unasked | ((target: Target, world: World) => Ask[])> = {
  getHealth: right('getHealth'),
  getConfig: right('getConfig'),
  registerEnvironment: MACHINE,
  heartbeat: aboutMachine,
  reportHealth: MACHINE,
  listMachineHealth: right('listMachineHealth'),
  registerAgent: MACHINE,
  openSession: 'it opens another session, and answers with that',
  openPastSession: 'it opens another session, and answers with that',
  appendEvents: 'it answers with numbers',
  appendBatches: 'it answers with numbers',
  completeSession: 'it answers with the status',
  completeSessions: 'it answers with the status',
  deleteCapturedSession: OTHERS,
  createOrganization: MEMBERSHIP,
  getOrganization: right('getOrganization'),
  renameOrganization: MEMBERSHIP,
  deleteOrganization: MEMBERSHIP,
  listMembers: right('listMembers'),
  inviteMember: MEMBERSHIP,
  issueSecret: SETTING,
  listSecrets: right('listSecrets'),
  revokeSecret: SETTING,
  listEnvironments: right('listEnvironments'),
  getEnvironment: aboutMachine,
  revokeEnvironment: MACHINE,
  setMachinePerson: MACHINE,
  listAgents: right('listAgents'),
  listInstallations: right('listInstallations'),
  createInstallation: MACHINE,
  updateInstallation: MACHINE,
  listSessions: ({ environmentId }) => [
    {},
    { query: { limit: 1 } },
    { query: { limit: 2 } },
    { query: { environmentId } },
    { query: { agentId: 'codex', limit: 3 } },
    { query: { secretEnvironment: 'all' } },
  ],
  getSession: ofSession,
  listSessionEvents: ofSession,
  getEventWindow: ofSession,
  getPerson: right('getPerson'),
  deleteAccount: MEMBERSHIP,
  acceptInvitation: MEMBERSHIP,
  leaveOrganization: MEMBERSHIP,
  listInvitations: right('listInvitations'),
  repeatInvitation: MEMBERSHIP,
  changeRole: MEMBERSHIP,
  removeMember: MEMBERSHIP,
  passOwnership: MEMBERSHIP,
  identifySecret: right('identifySecret'),
  startDeviceSignIn: MACHINE,
  collectDeviceSecret: MACHINE,
  getDeviceSignIn: right('getDeviceSignIn'),
  decideDeviceSignIn: MACHINE,
  captureSessions: ({ clientKey, environmentId, installationId }) => [
    { body: { sessions: [{ clientKey, environmentId, agentInstallationId: installationId }] } },
  ],
  restrictSession: ({ sessionId, visibility }) => [{ params: { sessionId }, body: { visibility } }],
  forgetDeletion: ofSession,
  deleteSession: OTHERS,
  changeVisibility: ({ sessionId, visibility }) => [{ params: { sessionId }, body: { visibility } }],
  listSessionSummaries: ({ sessionId, nextId }) => [
    { query: { sessionIds: sessionId } },
    { query: { sessionIds: `${nextId},${sessionId}` } },
  ],
  searchSessions: (target) => [
    ...queries(target).map((q): Ask => ({ query: { q } })),
    { query: { q: canary(target.visibility, 'content'), limit: 1 } },
    ...ORDERS.flatMap((order) =>
      ['asc', 'desc'].map((direction): Ask => ({ query: { order, direction, limit: 1, secretEnvironment: 'all' } })),
    ),
    { query: { q: canary(target.visibility, 'content'), order: 'fit' } },
  ],
  findInSession: ({ sessionId, visibility }) =>
    PLACES.map((place) => ({ params: { sessionId }, query: { q: canary(visibility, place) } })),
  getSessionFacts: ({ sessionId, nextId }) => [{ params: { sessionId } }, { params: { sessionId: nextId } }],
  getSessionIndex: ofSession,
  listSessionViews: ofSession,
  listMasks: ofSession,
  // What it finds in which sessions is in masking-everywhere.test.ts.
  maskEverywhere: right('maskEverywhere'),
  listMaskRuns: right('listMaskRuns'),
  cancelMaskRun: SETTING,
  showEvidence: ofSession,
  countersignSession: ({ sessionId }) => [{ params: { sessionId }, body: { machineKey: MACHINE_KEY } }],
  maskText: ({ sessionId }) => [{ params: { sessionId }, body: { text: 'nowhere to be found' } }],
  getDeletionReceipt: right('getDeletionReceipt'),
  getUsage: right('getUsage'),
  getPolicy: right('getPolicy'),
  replacePolicy: SETTING,
  previewRetention: right('previewRetention'),
  listAudit: right('listAudit'),
  getAuditHead: right('getAuditHead'),
  streamAuditEvents: right('streamAuditEvents'),
  listHolds: right('listHolds'),
  placeHold: OTHERS,
  releaseHold: SETTING,
  getStorage: right('getStorage'),
  getDirectory: right('getDirectory'),
  getScimConfiguration: right('getScimConfiguration'),
  listScimSchemas: right('listScimSchemas'),
  listScimResourceTypes: right('listScimResourceTypes'),
  listScimUsers: right('listScimUsers'),
  getScimUser: right('getScimUser'),
  issueDirectoryToken: MEMBERSHIP,
  revokeDirectoryToken: MEMBERSHIP,
  createScimUser: MEMBERSHIP,
  replaceScimUser: MEMBERSHIP,
  changeScimUser: MEMBERSHIP,
  deleteScimUser: MEMBERSHIP,
  listAddOns: right('listAddOns'),
  listViews: right('listViews'),
  saveView: SETTING,
  changeView: SETTING,
  deleteView: SETTING,
  listEventDigests: ({ sessionId }) => [{ body: { nonce: 'a'.repeat(22), sessions: [{ sessionId }] } }],
  createShare: 'it answers with what was sent: whom it lets share what is in its tables',
  listShares: ofSession,
  revokeShare: OTHERS,
  getShare: ({ shareTokens }) => shareTokens.map((token) => ({ params: { token } })),
  listSharedEvents: ({ shareTokens }) => shareTokens.map((token) => ({ params: { token } })),
  streamChanges: 'it never ends: the tests of live streams read it',
};
