import { ORDERS } from '../../contract/names.ts';
import { VISIBILITIES, type Visibility } from '../../contract/session.ts';
import { type AnyRouteName, type Ask, MACHINE_KEY, RIGHT } from './requests.ts';
import type { World } from './world.ts';

/** The places in which a session has content. Each place has a word that occurs nowhere else. */
export const PLACES = ['title', 'prompt', 'content', 'command', 'output', 'diff', 'commit'] as const;
export type Place = (typeof PLACES)[number];

/** The word in one place of the session with this visibility. */
export const canary = (visibility: Visibility, place: Place | 'file'): string => `zq${visibility}${place}`;

/** A session of the member, with the ids that requests about it need. */
export interface Target {
  visibility: Visibility;
  sessionId: string;
  environmentId: string;
  installationId: string;
  clientKey: string;
  /** Tokens of shares that the session's person made with the organization, at the level of figures. */
  shareTokens: string[];
  /** A session that everybody may read, and that continues this one. */
  nextId: string;
}

export const targets = (sessions: Record<Visibility, Target>) => VISIBILITIES.map((one) => sessions[one]);

/**
 * Why the tests do not call a route: its answer has nothing of any session, and it would change what the other requests depend
 * on.
 */
type Unasked = string;

const ofSession = ({ sessionId }: Target): Ask[] => [{ params: { sessionId } }];
const right =
  (route: AnyRouteName) =>
  (_: Target, world: World): Ask[] => [RIGHT[route](world)];
const aboutMachine = ({ environmentId }: Target): Ask[] => [{ params: { environmentId } }];

const MEMBERSHIP = 'it is about people and their membership';
const MACHINE = 'it is about a machine or an agent';
const SETTING = 'it is about a setting or a view of a person';
const OTHERS = 'the tables of the route test who may do what';

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
 * Requests that would change a session, for each route that names one, sent by callers who may not know of the session. Appends
 * and closes are left out: every secret of the organization may add to a session by its id, and the answer has only numbers.
 * Deletion by a key is left out too: a caller who can compute the key learns that another machine captured the session, as they
 * do when they capture under it.
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

/** The requests about a session that each route gets. A new route needs an entry here: requests, or the reason for none. */
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
  collectReadingToken: MACHINE,
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
  listSessionSenders: ofSession,
  listMasks: ofSession,
  // masking-everywhere.slow.test.ts tests which sessions it finds.
  maskEverywhere: right('maskEverywhere'),
  listMaskRuns: right('listMaskRuns'),
  listRepositories: right('listRepositories'),
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
  createShare: 'it answers with what was sent: its tables test who may share what',
  listShares: ofSession,
  revokeShare: OTHERS,
  getShare: ({ shareTokens }) => shareTokens.map((token) => ({ params: { token } })),
  listSharedEvents: ({ shareTokens }) => shareTokens.map((token) => ({ params: { token } })),
  streamChanges: 'it never ends: the tests of live streams read it',
};

const IN_LIST = 'a list shows titles and first prompts of many sessions: somebody who scrolls looks at none of them';

/** Why a route that answers with content of a session notes no look at it. Without an entry here, a route must note one. */
export const CONTENT_WITHOUT_LOOK: Partial<Record<AnyRouteName, string>> = {
  listSessions: IN_LIST,
  listSessionSummaries: IN_LIST,
  getSession: 'it has the same as the list',
  captureSessions: 'its caller is the machine that sent the title',
};
