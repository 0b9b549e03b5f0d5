import type { Config } from '../config.ts';
import { newMaskOfAllId } from '../erase/mask/masks.ts';
import { copyStore, openTestStore, type TestEngine } from './engines.ts';
import {
  beginSignIn,
  createTenant,
  event,
  openSession,
  registerMachine,
  signIn,
  type Tenant,
  whenDerived,
} from './factories.ts';
import { type Serving, serve, startTestService, type TestService } from './harness.ts';

/** An organization with one of each thing. */
export interface Side extends Tenant {
  ownerId: string;
  memberId: string;
  /** Id of a person who is invited and has not answered. */
  userId: string;
  environmentId: string;
  installationId: string;
  secretId: string;
  /** An open session on the live plane with two events. */
  sessionId: string;
  /** An open session on the test plane. */
  testSessionId: string;
  closedSessionId: string;
  /** A session for tests that delete it: by its id, or by its client's key. */
  spareSessionId: string;
  clientKey: string;
  revokedEnvironmentId: string;
  disabledInstallationId: string;
  /** A view that the member saved for themselves, and one that they share. */
  viewId: string;
  sharedViewId: string;
  /** The token of the owner's share of the closed session with the organization, and a share for tests that revoke it. */
  shareToken: string;
  spareShareId: string;
  /** A hold that was released. */
  releasedHoldId: string;
  /** The run in which the admin had a text counted in all sessions. */
  runId: string;
  /** The code of a sign-in that waits for a decision, and the device code of one that was confirmed. */
  userCode: string;
  deviceCode: string;
  /** Of a confirmed sign-in for reading. */
  readingCode: string;
  /** The directory's token, and one of its users, who is not active. */
  directoryToken: string;
  directoryUserId: string;
}

/** Two organizations that must not see each other, and a person who belongs to neither. */
export interface World {
  service: TestService;
  ours: Side;
  theirs: Side;
  stranger: string;
  /** A secret of ours that was revoked. */
  revokedSecret: string;
}

export async function createWorld(service: TestService): Promise<World> {
  const ours = await createSide(service, 'ours');
  const theirs = await createSide(service, 'theirs');
  const issued = await service.call('POST', '/v1/organizations/me/secrets', { as: ours.owner });
  await service.call('DELETE', `/v1/organizations/me/secrets/${issued.body.secretId}`, { as: ours.owner });
  return { service, ours, theirs, stranger: await signIn(service), revokedSecret: issued.body.value };
}

/**
 * The original world of each engine, which the others copy. Creating one takes some hundred requests, which is slower than most
 * tests.
 */
const originals = new Map<TestEngine, Promise<World>>();

/** A world on a store of its own. The streams of a bus cannot be copied, so each world on a bus is created from nothing. */
export async function startWorld(engine: TestEngine, serving: Serving = {}): Promise<World> {
  if (engine === 'bus') return createWorld(await serve(await openTestStore(engine), serving));
  if (!originals.has(engine)) originals.set(engine, makeOriginal(engine));
  return copyWorld((await originals.get(engine)) as World, serving);
}

/** A copy of a world that a test file prepared with `makeOriginal`. */
export async function copyWorld({ service, ...rest }: World, serving: Serving = {}): Promise<World> {
  const copy = await copyStore(service.store);
  return { ...structuredClone(rest), service: await serve(copy, { ...serving, earlier: service }) };
}

/**
 * Creates a world to copy from. Its store is closed, and removed at the end of the run.
 * @param prepare adds the things that all copies have
 */
export async function makeOriginal(
  engine: TestEngine,
  overrides: Partial<Config> = {},
  prepare: (world: World) => Promise<void> = async () => undefined,
): Promise<World> {
  const store = await openTestStore(engine);
  const world = await createWorld(await startTestService(engine, overrides, store));
  await prepare(world);
  await world.service.close();
  await store.close();
  return world;
}

async function createSide(service: TestService, name: string): Promise<Side> {
  const tenant = await createTenant(service, name);
  const members = '/v1/organizations/me/members';
  await service.call('POST', members, { as: tenant.owner, body: { email: `${name}-invited@example.com` } });
  const { users } = (await service.call('GET', members, { as: tenant.owner })).body;
  const idOf = (role: string): string =>
    users.find(({ email }: { email: string }) => email === `${name}-${role}@example.com`).userId;
  const machine = await registerMachine(service, tenant.live, `${name}-host`);
  const revoked = await registerMachine(service, tenant.live, `${name}-revoked-host`);
  const { secrets } = (await service.call('GET', '/v1/organizations/me/secrets', { as: tenant.owner })).body;
  const sessionId = await openSession(service, tenant.live, machine);
  const closedSessionId = await openSession(service, tenant.live, machine);
  await service.call('POST', `/v1/sessions/${sessionId}/events`, {
    as: tenant.live,
    body: { events: [event(`${name} one`), event(`${name} two`)] },
  });
  await whenDerived(service, tenant.member, sessionId, 2);
  await service.call('POST', `/v1/sessions/${closedSessionId}/complete`, { as: tenant.live });
  const clientKey = `${name}_session-for-deletion`;
  const capture = { clientKey, environmentId: machine.environmentId, agentInstallationId: machine.installationId };
  await service.call('POST', '/v1/captured-sessions', { as: tenant.live, body: { sessions: [capture] } });
  const agents = `/v1/environments/${machine.environmentId}/agents`;
  const { installationId } = (await service.call('POST', agents, { as: tenant.live, body: { agentId: 'goose' } })).body;
  const disabled = { as: tenant.owner, body: { status: 'disabled' } };
  await service.call('PATCH', `/v1/organizations/me/agents/${installationId}`, disabled);
  const gone = `/v1/organizations/me/environments/${revoked.environmentId}`;
  await service.call('DELETE', gone, { as: tenant.owner });
  const view = async (isShared: boolean): Promise<string> => {
    const body = { name: `${name} view`, search: { q: 'tests:red' }, isShared };
    return (await service.call('POST', '/v1/organizations/me/views', { as: tenant.member, body })).body.view.viewId;
  };
  const waiting = await beginSignIn(service, `${name}-laptop`);
  const confirmed = await beginSignIn(service, `${name}-desktop`);
  const reading = await beginSignIn(service, `${name}-desktop`, 'reading');
  for (const { userCode } of [confirmed, reading]) {
    await service.call('POST', '/v1/organizations/me/device-sign-in', {
      as: tenant.owner,
      body: { userCode, decision: 'approve' },
    });
  }
  const share = async () => {
    const expiresAt = new Date(service.clock.now + 30 * 86_400_000).toISOString();
    const body = { audience: 'organization', level: 'full', expiresAt };
    return (
      await service.call('POST', `/v1/organizations/me/sessions/${closedSessionId}/shares`, { as: tenant.owner, body })
    ).body;
  };
  const directory = await service.call('POST', '/v1/organizations/me/directory/token', { as: tenant.owner });
  const user = { userName: `${name}-directory@example.com`, active: false };
  const { id } = (await service.call('POST', '/scim/v2/Users', { as: directory.body.value, body: user })).body;
  return {
    ...tenant,
    ...machine,
    directoryToken: directory.body.value,
    directoryUserId: id,
    viewId: await view(false),
    sharedViewId: await view(true),
    shareToken: (await share()).token,
    spareShareId: (await share()).share.shareId,
    releasedHoldId: await placeAndRelease(service, tenant.owner),
    runId: await insertEndedRun(service, tenant.organizationId, idOf('admin')),
    userCode: waiting.userCode,
    deviceCode: confirmed.deviceCode,
    readingCode: reading.deviceCode,
    ownerId: idOf('owner'),
    memberId: idOf('member'),
    userId: idOf('invited'),
    secretId: secrets[0].secretId,
    sessionId,
    testSessionId: await openSession(service, tenant.test, machine),
    closedSessionId,
    spareSessionId: await openSession(service, tenant.live, machine),
    clientKey,
    revokedEnvironmentId: revoked.environmentId,
    disabledInstallationId: installationId,
  };
}

/** Inserts a run that has ended, without a job: a job would read the sessions of each world. */
async function insertEndedRun({ store, clock }: TestService, organizationId: string, by: string): Promise<string> {
  const runId = newMaskOfAllId(clock.now);
  const counts = { sessions: 0, found: 0, held: 0, damaged: 0, events: 0, places: 0, fields: 0 };
  const times = { requested_at: clock.now, finished_at: clock.now, outcome: 'done', requested_by: by } as const;
  const scope = { organization_id: organizationId, session_id: null, mark: null, accepted_events: 0 };
  const mask = { mask_id: runId, ...scope, sealed: null, is_dry: 1, ...times, ...counts };
  await store.db.insertInto('masks').values(mask).execute();
  return runId;
}

async function placeAndRelease(service: TestService, owner: string): Promise<string> {
  const body = { target: { kind: 'everything' }, reason: 'a lawsuit' };
  const { hold } = (await service.call('POST', '/v1/organizations/me/holds', { as: owner, body })).body;
  await service.call('DELETE', `/v1/organizations/me/holds/${hold.holdId}`, { as: owner });
  return hold.holdId;
}
