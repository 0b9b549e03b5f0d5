const NOW = 1;
const ORGANIZATION = 'org_1';
const MACHINE = { hostname: 'host', platform: 'linux', serviceCliVersion: '1', repoRoot: '/src' };
const MEMBER = { organization_id: ORGANIZATION, user_id: 'usr_1' };
const VIEW = {
  view_id: 'viw_1',
  organization_id: ORGANIZATION,
  created_by: 'usr_1',
  name: 'red',
  search: '{}',
  is_shared: 0,
};
const PERSON = { issuer: 'issuer', subject: 'subject', email: 'person@example.com', emailVerified: true };
const OPENING = {
  organizationId: ORGANIZATION,
  plane: 'live',
  secretId: 'sec_1',
  environmentId: 'env_1',
  installationId: 'ins_1',
};
const CAPTURE = { clientKey: 'key', continues: undefined, forkedFrom: undefined, endedAt: undefined };
const ACTOR = { organizationId: ORGANIZATION, userId: 'usr_1' };
const DIRECTORY_USER = { attributes: { userName: 'person@example.com' }, memberKey: 'person@example.com' };
const HAPPENED = {
  actor: { kind: 'person', id: 'usr_1' },
  action: 'secret.revoked',
  target: { kind: 'secret', id: 'sec_1' },
};
const NOBODYS = {
  ...{ organization_id: ORGANIZATION, environment_id: 'env_1', user_id: null, claimed_by: null, status: 'active' },
};
const LEAVING = { organizationId: ORGANIZATION, userId: 'usr_2', actorId: 'usr_1' };
const PERSON_DELETION = { organization_id: ORGANIZATION, user_id: 'usr_2', actor_id: 'usr_1', requested_at: NOW };
const LOOKS = {
  ...{ organizationId: ORGANIZATION, sessionId: 'ses_1', userId: 'usr_1', kind: 'opened', firstAt: NOW, lastAt: NOW },
  ...{ count: 1, surface: 'dashboard', network: '192.0.2.0/24' },
};
const HOLDER = { organizationId: ORGANIZATION, secretId: 'sec_1' };
const VIEWER = { organizationId: ORGANIZATION, userId: 'usr_1', seesAll: false };
const FILTER = { viewer: VIEWER, offset: 0, limit: 51 };
const SESSION = {
  ...{ session_id: 'ses_1', organization_id: ORGANIZATION, plane: 'live', started_at: NOW, environment_id: 'env_1' },
  ...{ client_key: 'key', continues_key: 'key', forked_from_key: 'key' },
};
const DAY = { organization_id: ORGANIZATION, plane: 'live', day: '2026-11-22' };
const ADD_ON = {
  ...{
    day: '2026-11-20',
    kind: 'skill',
    name: 'pdf',
    model: '',
    agent_id: 'codex',
    person: null,
    calls: 1,
    failures: 0,
  },
  ...{ last_used_at: 1, is_listed: 0, input_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
};
const SESSION_DAY = { day: '2026-11-22', kind: 'tool', name: 'shell', tool_calls: 1 };
const USAGE = { organizationId: ORGANIZATION, planes: ['live'], from: '2026-11-01', to: '2026-11-30' };
const VALUE = { field: 'file', name: 'name', value: 'path/name' };
const WORDS = [
  [
    [{ word: 'word', open: true }],
    [
      { word: 'or', open: false },
      { word: 'others', open: false },
    ],
  ],
];
const FILE = { field: 'file', alternatives: [{ name: 'queue.ts', open: false, ending: '%/src/queue.ts' }] };
const FOUND = {
  viewer: VIEWER,
  isOfWords: false,
  plane: 'live',
  order: 'started',
  direction: 'desc',
  values: [],
};
const FOUND_BY_ALL = {
  ...{
    ...FOUND,
    isOfWords: true,
    order: 'cost',
    agentIds: ['codex'],
    environmentIds: ['env_1'],
    secretIds: ['sec_1'],
    failed: true,
  },
  ...{ statuses: ['active'], from: NOW, before: NOW, values: [FILE] },
};

/**
 * What to call each function of the store with, behind its first parameter, to see all that it asks; nothing where it is
 * shown elsewhere.
 */
export const EXAMPLES: Record<string, unknown[][]> = {
  // These prepare the schema, or ask nothing.
  insertRows: [],
  migrate: [],
  pagesOf: [],
  assertOwner: [],
  grantTenant: [],
  holdSchema: [],
  isValidIndex: [],
  setBoundsOfChange: [],
  isPostgres: [],
  ofEngine: [],
  rowsOfTexts: [],
  isOneOf: [],
  jsonArray: [],
  allRows: [],
  firstRow: [],
  oneRow: [],
  changedRows: [],
  runAtOnce: [],
  readListed: [['environments', ORGANIZATION, ['env_1']]],
  forShare: [],
  forUpdate: [],

  readAppends: [[ORGANIZATION, 'ses_1', 1, 1]],
  findKeyedAppend: [[ORGANIZATION, 'ses_1', 'key']],
  readLogState: [[ORGANIZATION, 'ses_1']],
  findWithGap: [[]],

  decideDevice: [
    ['hash', { status: 'approved', organizationId: ORGANIZATION, decidedBy: 'usr_1', plane: 'live' }, NOW],
  ],
  findDevice: [['hash', NOW]],
  findDeviceByUser: [[ORGANIZATION, 'hash', NOW]],
  insertDevice: [[{ created_at: NOW }]],
  issueToDevice: [['hash', { organizationId: ORGANIZATION, createdBy: 'usr_1' }, NOW]],
  markPolled: [['hash', NOW]],

  addLooks: [[[LOOKS]]],
  listSessionViews: [[ORGANIZATION, 'ses_1']],

  recordAction: [],
  recordActions: [[ORGANIZATION, [HAPPENED], NOW]],
  recordInAll: [],
  recordExpired: [[NOW]],
  listAudit: [
    [ORGANIZATION, { before: 100, limit: 101 }],
    [ORGANIZATION, { action: 'secret.revoked', actor: 'usr_1', before: 100, limit: 101 }],
  ],
  readAuditAfter: [[ORGANIZATION, 1, 1000]],
  readAuditHead: [[ORGANIZATION]],
  listAuditHeads: [[NOW]],
  listAudited: [[]],

  findEnvironment: [[ORGANIZATION, 'env_1']],
  holdEnvironment: [[ORGANIZATION, 'env_1']],
  listEnvironmentIds: [[ORGANIZATION]],
  registerEnvironment: [[HOLDER, MACHINE, NOW]],
  revokeEnvironment: [[ACTOR, 'env_1', NOW]],
  findRevokedWithOpen: [['env_1']],
  listOpen: [
    [{ organization_id: ORGANIZATION, environment_id: 'env_1' }, undefined],
    [{ organization_id: ORGANIZATION, environment_id: 'env_1' }, 'ses_1'],
  ],
  adoptMachine: [[HOLDER, NOBODYS, NOW]],
  assignMachine: [[NOBODYS, 'usr_1', 'usr_2', NOW]],
  claimMachine: [[NOBODYS, 'usr_1', NOW]],
  lockEnvironment: [[ORGANIZATION, 'env_1']],
  keepReport: [[ORGANIZATION, 'env_1', { waiting: 1, troubles: [] }, NOW]],
  readReports: [[ORGANIZATION]],
  readMachineSecrets: [[ORGANIZATION]],
  readMachineDays: [[ORGANIZATION, ['env_1'], '2026-11-22']],
  touchEnvironment: [[ORGANIZATION, 'env_1', '1', NOW]],

  revokeSecrets: [
    [ORGANIZATION, NOW],
    [ORGANIZATION, NOW, 'usr_1'],
  ],
  recordSignIn: [[PERSON, NOW]],
  recordSeen: [[ORGANIZATION, 'usr_1', { at: NOW, before: NOW }]],
  deletePerson: [['usr_1', 'person@example.com', NOW]],
  endOrganization: [[ORGANIZATION, NOW]],
  listDeletedOrganizations: [[]],
  listRemainingSessions: [[ORGANIZATION]],
  removeOrganization: [[ORGANIZATION]],
  readStored: [[ORGANIZATION, '2026-11-22']],
  readSent: [[ORGANIZATION, '2026-10-26']],
  addStored: [[[{ organizationId: ORGANIZATION, sessionId: 'ses_1', bytes: 1 }], '2026-11-22']],
  purgeStoredDays: [['2026-11-22']],
  countOpen: [[ORGANIZATION, 'env_1', 1, NOW]],
  findIssued: [[ORGANIZATION, 'hash', NOW]],
  findSender: [[HOLDER]],
  bindSecret: [[HOLDER, 'env_1']],
  findCaptured: [[ORGANIZATION, 'live', 'key']],
  forgetDeletion: [[ACTOR, 'ses_1', NOW]],

  findNamed: [[ORGANIZATION, MACHINE]],
  findInstallation: [[ORGANIZATION, 'ins_1']],
  listInstallationIds: [[ORGANIZATION]],
  updateInstallation: [[ACTOR, 'ins_1', { status: 'disabled' }, NOW]],
  updateInstalled: [[ORGANIZATION, { agentId: 'codex', environmentId: 'env_1', version: '1' }, NOW]],
  upsertInstallation: [[ORGANIZATION, { agentId: 'codex', environmentId: 'env_1', version: '1' }, HAPPENED.actor, NOW]],

  listViews: [[ORGANIZATION, 'usr_1']],
  findView: [[ORGANIZATION, 'usr_1', 'viw_1']],
  addView: [[{ organizationId: ORGANIZATION, userId: 'usr_1' }, { name: 'red', search: { q: 'tests:red' } }, NOW]],
  changeView: [[VIEW, { isShared: true }, NOW]],
  removeView: [[VIEW]],
  removeOwnViews: [[ORGANIZATION, 'usr_1']],

  addToReceipt: [],
  lockReceipt: [[ORGANIZATION, 'ses_1']],
  finishReceipt: [[ORGANIZATION, 'ses_1', NOW]],
  findReceipt: [[ORGANIZATION, 'ses_1']],

  assertNoHold: [[ORGANIZATION]],
  findHoldOf: [[{ organizationId: ORGANIZATION, sessionId: 'ses_1' }]],
  listHolds: [[ORGANIZATION]],
  placeHold: [
    [ACTOR, { target: { kind: 'session', id: 'ses_1' }, reason: 'a lawsuit' }, NOW],
    [ACTOR, { target: { kind: 'person', id: 'usr_1' }, reason: 'a lawsuit' }, NOW],
    [ACTOR, { target: { kind: 'repository', id: 'h.test/o/r' }, reason: 'a lawsuit' }, NOW],
  ],
  releaseHold: [[ACTOR, 'hol_1', NOW]],
  recordRefusal: [],

  assertRoom: [
    ['secrets', ORGANIZATION, NOW],
    ['environments', ORGANIZATION, NOW],
    ['installations', ORGANIZATION, NOW],
    ['members', ORGANIZATION, NOW],
    ['directory_users', ORGANIZATION, NOW],
  ],
  assertConfigRoom: [[ORGANIZATION]],
  purgeUnused: [[NOW]],
  purgeDevices: [[NOW]],

  acceptInvitation: [['usr_1', { userId: 'usr_2', email: 'person@example.com' }, NOW]],
  declineInvitations: [['person@example.com']],
  findByEmail: [['person@example.com']],
  isMemberAnywhere: [],
  findInvitation: [[ORGANIZATION, 'person@example.com']],
  listInvitationsOf: [['person@example.com']],
  lockPerson: [['usr_1']],

  findMember: [[ORGANIZATION, 'usr_1']],
  insertInvited: [[ORGANIZATION, 'person@example.com', 'member', NOW]],
  markMailed: [[MEMBER, NOW, NOW]],
  removeMember: [[MEMBER]],
  removeUnmailed: [[MEMBER]],
  updateRole: [[MEMBER, 'admin', NOW]],
  listMemberIds: [[ORGANIZATION], [ORGANIZATION, 'invited']],

  handOver: [[LEAVING, 'usr_3', NOW]],
  discard: [[LEAVING, NOW]],
  listPersonDeletions: [[]],
  listSessionsToDelete: [[PERSON_DELETION, '', 500]],
  endPersonDeletion: [[PERSON_DELETION]],
  revokeWithin: [],
  assertNoHoldOn: [],
  findDirectoryToken: [[ORGANIZATION]],
  findDirectoryByHash: [['hash']],
  markDirectoryUsed: [[{ organization_id: ORGANIZATION, token_id: 'dit_1' }, NOW]],
  replaceDirectoryToken: [[ORGANIZATION, { hash: 'hash', lastFour: '1234', createdBy: 'usr_1' }, NOW]],
  removeDirectoryToken: [[ORGANIZATION]],
  findDirectoryUser: [[ORGANIZATION, 'dir_1']],
  listDirectoryUsers: [
    [ORGANIZATION, { offset: 0, limit: 200 }],
    [ORGANIZATION, { filter: { name: 'userName', value: 'Person@example.com' }, offset: 0, limit: 200 }],
    [ORGANIZATION, { filter: { name: 'externalId', value: '1' }, offset: 0, limit: 200 }],
  ],
  countDirectoryUsers: [[ORGANIZATION, undefined]],
  adoptMembers: [[ORGANIZATION, NOW]],
  insertDirectoryUser: [[ORGANIZATION, DIRECTORY_USER, NOW]],
  updateDirectoryUser: [[{ organization_id: ORGANIZATION, directory_user_id: 'dir_1' }, DIRECTORY_USER, NOW]],
  removeDirectoryUser: [[{ organization_id: ORGANIZATION, directory_user_id: 'dir_1' }]],
  endMembership: [[MEMBER, { actor: HAPPENED.actor, keepsSecrets: false }, NOW]],
  findMemberByEmail: [[ORGANIZATION, 'person@example.com']],

  readPolicy: [[ORGANIZATION]],
  replacePolicy: [[ACTOR, { signIn: 'admins' }, NOW]],

  changeMembers: [[ORGANIZATION, () => undefined]],
  createOrganization: [['name', { userId: 'usr_1', email: 'person@example.com', emailVerified: true }, NOW]],
  findOrganization: [[ORGANIZATION]],
  nameOwner: [[ORGANIZATION, 'usr_1', NOW]],
  settleOwner: [[ORGANIZATION, NOW, { kind: 'person', id: 'usr_1' }]],
  markTenantAssigned: [[ORGANIZATION]],
  renameOrganization: [[ORGANIZATION, 'name', NOW]],

  resolveCaller: [
    [PERSON, NOW],
    [{ ...PERSON, email: 'another@example.com' }, NOW],
  ],

  findSecretByHash: [['hash']],
  addSecret: [[{ organizationId: ORGANIZATION }, NOW]],
  listSecrets: [[ORGANIZATION]],
  markSecretUsed: [[ORGANIZATION, 'sec_1', NOW]],
  revokeSecret: [[ORGANIZATION, 'sec_1', NOW]],

  findSession: [[VIEWER, 'ses_1']],
  findSessions: [[VIEWER, ['ses_1', 'ses_2']]],
  openSession: [[{ ...OPENING, agentId: 'codex' }, NOW]],
  captureSessions: [[[{ ...OPENING, capture: CAPTURE }], NOW]],

  listUnchanged: [[NOW, { createdAt: NOW, sessionId: 'ses_1' }, 100]],
  forgetExpiry: [[{ organizationId: ORGANIZATION, sessionId: 'ses_1' }, HAPPENED.actor, NOW]],
  findDeleted: [[ORGANIZATION, 'live', 'key']],
  sweepDeleted: [[() => NOW]],
  sweepOrphans: [[]],
  wasDeleted: [[ORGANIZATION, 'live', 'ses_1']],

  listSessions: ['live', 'all'].flatMap((plane) => [
    [{ ...FILTER, plane }],
    [{ ...FILTER, plane, environmentId: 'env_1', agentId: 'codex' }],
  ]),

  findInOrder: [
    [FOUND, undefined, { next: 200 }, 51],
    [FOUND_BY_ALL, { value: NOW, sessionId: 'ses_1' }, { ids: ['ses_1'] }, 51],
  ],
  findEnd: [[FOUND, undefined, 200]],
  findByValue: [[ORGANIZATION, FILE, 51]],
  findByTrait: ['agentIds', 'environmentIds', 'secretIds', 'statuses', 'time', 'failed'].map((trait) => [
    FOUND_BY_ALL,
    ['live'],
    trait,
    51,
  ]),
  findByWords: [[ORGANIZATION, WORDS, 51]],
  findEnvironmentsCalled: [[ORGANIZATION, ['host', 'other']]],
  findSecretsCalled: [[ORGANIZATION, ['laptop']]],
  byIndex: [],
  findChunks: [
    [
      ORGANIZATION,
      ['ses_1'],
      [
        { place: 0, words: WORDS },
        { place: 1, words: WORDS },
      ],
    ],
  ],
  lastIndexed: [[ORGANIZATION, 'ses_1']],
  readAppendsOf: [[ORGANIZATION, [{ sessionId: 'ses_1', first: 1, last: 64 }]]],

  rememberSetting: [['name', () => 'value']],
  writeSetting: [['name', 'value']],
  listPriced: [['ses_1']],
  writeCosts: [
    [SESSION, () => ({ days: [{ day: '2026-11-22', name: 'model', cost: 1, unpriced_tokens: 0 }], cost: 1 })],
  ],

  findSummaries: [[VIEWER, ['ses_1']]],
  findRelated: [[VIEWER, SESSION]],
  findFacts: [[ORGANIZATION, 'ses_1', 1]],
  findSource: [[ORGANIZATION, 'ses_1']],
  findBehind: [[1, 'ses_1']],
  findOpenBehind: [[1, 'ses_1']],
  findNewBehind: [[1, NOW, '1 ses_1']],
  claimSession: [[SESSION, NOW, NOW]],
  releaseSession: [[SESSION, true]],
  readWords: [[ORGANIZATION, 'ses_1', 1]],
  readChunks: [[ORGANIZATION, 'ses_1', 1, 1]],
  writeSlice: [
    [
      {
        row: SESSION,
        before: { version: 1, derived_through: 0 },
        after: { version: 1, derived_through: 1 },
        columns: { event_count: 1 },
        chunks: [{ first: 1, last: 1, entries: Buffer.of(), words: 'word', added: 'word' }],
        days: [SESSION_DAY],
        addOns: [ADD_ON],
        values: { added: [VALUE], removed: [VALUE] },
        isAnew: true,
      },
    ],
  ],
  removeValues: [],
  replaceSessionDays: [],
  noteChanged: [],
  readModelTokens: [[['ses_1']]],
  listDaysBehind: [
    [USAGE, 100],
    [undefined, 100],
  ],
  sumDay: [[{ ...DAY, changes: 1 }]],
  replaceAddOns: [],
  findAddOns: [
    [USAGE, 300],
    [{ ...USAGE, kind: 'skill' }, 300],
  ],
  readCallersOf: [[USAGE, ['playwright'], 'person', 1_000]],
  readTokensOf: [[USAGE, ['Explore'], 1_000]],
  readTotals: [[USAGE]],
  readValues: [[USAGE, 'agent', ['codex'], 'week']],
  findLargest: [[USAGE, 'agent', 20]],
  readCalls: [[USAGE, 'tool', 20]],
  findTopSessions: [
    [VIEWER, USAGE, 'failures', true, 5],
    [VIEWER, USAGE, 'failures', false, 5],
    [VIEWER, USAGE, 'started_at', false, 5],
  ],
  findLatest: [[VIEWER, USAGE, 20]],
  changeVisibility: [[{ viewer: VIEWER, userId: 'usr_1', isAdmin: true }, 'ses_1', 'private', NOW]],
  viewerOf: [[{ ...ACTOR, role: 'admin' }]],
  viewerNow: [[VIEWER]],
  findAudience: [[{ organizationId: ORGANIZATION, sessionId: 'ses_1' }]],
  removeAllDerived: [[]],
  removeDerived: [[SESSION]],
};
