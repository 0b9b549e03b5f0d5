export const NOW = 1;
export const ORGANIZATION = 'org_1';
/** What a person has proven. */
export const PROOF = { email: 'person@example.com', directoryId: '2f6c0a51-example' };
export const MACHINE = { hostname: 'host', platform: 'linux', serviceCliVersion: '1', repoRoot: '/src' };
export const MEMBER = { organization_id: ORGANIZATION, user_id: 'usr_1' };
export const VIEW = {
  view_id: 'viw_1',
  organization_id: ORGANIZATION,
  created_by: 'usr_1',
  name: 'red',
  search: '{}',
  is_shared: 0,
};
export const PERSON = { issuer: 'issuer', subject: 'subject', email: 'person@example.com', emailVerified: true };
export const OPENING = {
  organizationId: ORGANIZATION,
  plane: 'live',
  secretId: 'sec_1',
  environmentId: 'env_1',
  installationId: 'ins_1',
};
export const CAPTURE = { clientKey: 'key', continues: undefined, forkedFrom: undefined, endedAt: undefined };
export const ACTOR = { organizationId: ORGANIZATION, userId: 'usr_1' };
export const DIRECTORY_USER = { attributes: { userName: 'person@example.com' }, memberKey: 'person@example.com' };
export const HAPPENED = {
  actor: { kind: 'person', id: 'usr_1' },
  action: 'secret.revoked',
  target: { kind: 'secret', id: 'sec_1' },
};
export const NOBODYS = {
  ...{ organization_id: ORGANIZATION, environment_id: 'env_1', user_id: null, claimed_by: null, status: 'active' },
};
export const LEAVING = { organizationId: ORGANIZATION, userId: 'usr_2', actorId: 'usr_1' };
export const PERSON_DELETION = {
  organization_id: ORGANIZATION,
  user_id: 'usr_2',
  actor_id: 'usr_1',
  requested_at: NOW,
};
export const LOOKS = {
  ...{ organizationId: ORGANIZATION, sessionId: 'ses_1', userId: 'usr_1', kind: 'opened', firstAt: NOW, lastAt: NOW },
  ...{ count: 1, surface: 'dashboard', network: '192.0.2.0/24' },
};
export const DUE = {
  organizationId: ORGANIZATION,
  rules: [
    { target: { kind: 'organization' }, contentDays: 90, factsDays: 365 },
    { target: { kind: 'repository', id: 'example.com/acme/shop' }, factsDays: 30 },
  ],
  bounds: {},
  field: 'factsDays',
  now: NOW,
};
export const EXPIRING = {
  due: { bounds: {}, now: NOW },
  version: 1,
  withoutWords: () => ({ facts: '{}', summary: '{}' }),
};
export const HOLDER = { organizationId: ORGANIZATION, secretId: 'sec_1' };
export const VIEWER = { organizationId: ORGANIZATION, userId: 'usr_1', seesAll: false };
export const FILTER = { viewer: VIEWER, offset: 0, limit: 51 };
export const SESSION = {
  ...{ session_id: 'ses_1', organization_id: ORGANIZATION, plane: 'live', started_at: NOW, environment_id: 'env_1' },
  ...{ client_key: 'key', continues_key: 'key', forked_from_key: 'key' },
};
export const SHARE = { organization_id: ORGANIZATION, share_id: 'shr_1', session_id: 'ses_1' };
export const MASK = { organization_id: ORGANIZATION, session_id: 'ses_1', mask_id: 'msk_1', masked_by: 'usr_1' };
export const MASK_RUN = {
  ...{ organization_id: ORGANIZATION, run_id: 'mrn_1', requested_by: 'usr_1', is_dry: 0 },
  ...{ requested_at: NOW },
};
export const JOB = {
  ...{ job_id: 'msk_1', organization_id: ORGANIZATION, kind: 'mask' },
  ...{ progress: '1', lease: 'lease', attempts: 1 },
};
export const CHAIN = {
  ...{ session_id: 'ses_1', organization_id: ORGANIZATION, sequence: 1, hash: 'hash' },
  ...{ machine_key: null, envelope: '{}', signed_at: NOW },
};
export const DAY = { organization_id: ORGANIZATION, plane: 'live', day: '2026-11-22' };
export const ADD_ON = {
  ...{
    day: '2026-11-20',
    kind: 'skill',
    name: 'pdf',
    model: '',
    agent_id: 'codex',
    calls: 1,
    failures: 0,
  },
  ...{ last_used_at: 1, is_listed: 0, input_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
};
export const SESSION_DAY = { day: '2026-11-22', kind: 'tool', name: 'shell', tool_calls: 1 };
export const USAGE = { organizationId: ORGANIZATION, planes: ['live'], from: '2026-11-01', to: '2026-11-30' };
export const VALUE = { field: 'file', name: 'name', value: 'path/name' };
export const SEARCHED = { organizationId: ORGANIZATION, prefixes: ['teams', 'mine0'] };
export const WORDS = [
  [
    [{ word: 'word', open: true }],
    [
      { word: 'or', open: false },
      { word: 'others', open: false },
    ],
  ],
];
export const FILE = { field: 'file', alternatives: [{ name: 'queue.ts', ending: '%/src/queue.ts' }] };
export const FOUND = {
  viewer: VIEWER,
  isOfWords: false,
  plane: 'live',
  order: 'started',
  direction: 'desc',
  values: [],
};
export const FOUND_BY_ALL = {
  ...{
    ...FOUND,
    isOfWords: true,
    order: 'cost',
    agentIds: ['codex'],
    environmentIds: ['env_1'],
    secretIds: ['sec_1'],
    userIds: ['usr_1', null],
    failed: true,
  },
  ...{ statuses: ['active'], from: NOW, before: NOW, values: [FILE] },
};
