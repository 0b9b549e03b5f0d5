import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Visibility } from '../../contract/session.ts';
import { purgeRemoved } from '../erase/purge.ts';
import { outlineOf } from '../ingest/outline.ts';
import { ShareCounts } from '../ingest/share-counts.ts';
import { ENGINES } from './engines.ts';
import { playScenarios } from './scenarios.ts';
import { answered, asked, called, said } from './searched.ts';
import { openSigned } from './signed-in.ts';
import { SHARES } from './tables/shares.ts';
import { startWorld, type World } from './world.ts';

playScenarios('shares', SHARES);

const DAY_MS = 86_400_000;

describe.each(ENGINES)('a share on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
    await call('PUT', 'policy', world.ours.owner, { linkSharing: 'on' });
  });
  afterEach(() => world.service.close());

  const call = (method: string, path: string, as: string, body?: object) =>
    world.service.call(method, `/v1/organizations/me/${path}`, { as, ...(body && { body }) });
  const share = async (as: string, body: object = {}, sessionId = world.ours.sessionId) => {
    const expiresAt = new Date(world.service.clock.now + DAY_MS).toISOString();
    const sent = { audience: 'link', level: 'full', expiresAt, ...body };
    const reply = await call('POST', `sessions/${sessionId}/shares`, as, sent);
    expect(reply.status, reply.text).toBe(201);
    return reply.body as { token: string; share: { shareId: string } };
  };
  const open = (token: string, as?: string, path = '') =>
    world.service.call('GET', `/v1/shares/${token}${path}`, { as });
  const change = (sessionId: string, visibility: Visibility) =>
    call('PUT', `sessions/${sessionId}/visibility`, world.ours.member, { visibility });
  const listed = async () =>
    (await call('GET', `sessions/${world.ours.sessionId}/shares`, world.ours.owner)).body.shares;

  test('gets 410 after its end, and an unknown token gets 404', async () => {
    const { token } = await share(world.ours.member);
    world.service.clock.now += DAY_MS - 1;
    expect((await open(token)).status).toBe(200);
    world.service.clock.now += 1;
    expect((await open(token)).status).toBe(410);
    expect((await open(`${token}x`)).status).toBe(404);
  });

  test('lasts no longer than the current policy allows', async () => {
    const { token } = await share(world.ours.member, { expiresAt: new Date(world.service.clock.now + 9 * DAY_MS) });
    world.service.clock.now += 3 * DAY_MS;
    expect((await open(token)).status).toBe(200);
    await call('PUT', 'policy', world.ours.owner, { linkSharing: 'on', shareDays: 2 });
    expect((await open(token)).status).toBe(410);
  });

  test('shows at most what its maker may see now', async () => {
    const { ours } = world;
    const sessionId = await openSigned(world, ours.member, 'team');
    const organization = { audience: 'organization' };
    const tokens = {
      link: (await share(ours.member, {}, sessionId)).token,
      figuresByLink: (await share(ours.member, { level: 'figures' }, sessionId)).token,
      own: (await share(ours.member, organization, sessionId)).token,
      figures: (await share(ours.owner, { ...organization, level: 'figures' }, sessionId)).token,
      another: (await share(ours.owner, organization, sessionId)).token,
    };
    const statuses = async () => {
      const all = await Promise.all(Object.values(tokens).map((token) => open(token, ours.admin)));
      return all.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
    await change(sessionId, 'facts');
    expect(await statuses()).toEqual([410, 410, 200, 200, 410]);
    await change(sessionId, 'private');
    expect(await statuses()).toEqual([410, 410, 200, 410, 410]);
    await change(sessionId, 'team');
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
  });

  test('by an admin who reads everything shows no more than other members see', async () => {
    const { ours } = world;
    await call('PUT', 'policy', ours.owner, { adminsSeeAll: true });
    const sessionId = await openSigned(world, ours.member, 'private');
    const expiresAt = new Date(world.service.clock.now + DAY_MS).toISOString();
    const body = { audience: 'organization', level: 'full', expiresAt };
    const reply = await call('POST', `sessions/${sessionId}/shares`, ours.owner, body);
    expect(reply).toMatchObject({ status: 403, body: { code: 'sharing_refused' } });
  });

  test('ends with the membership of its maker, and of the person whom it is for', async () => {
    const { ours } = world;
    const made = await share(ours.member);
    const given = await share(ours.owner, { audience: 'person', userId: ours.memberId });
    expect((await open(given.token, ours.member)).status).toBe(200);
    await call('DELETE', `members/${ours.memberId}`, ours.owner);
    expect((await open(made.token)).status).toBe(410);
    const ended = (await listed()).filter(({ revokedAt }: { revokedAt?: string }) => revokedAt);
    expect(ended.map(({ shareId }: { shareId: string }) => shareId)).toEqual([given.share.shareId, made.share.shareId]);
    const { entries } = (await call('GET', 'audit', ours.owner)).body;
    expect(entries.filter(({ action }: { action: string }) => action === 'share.revoked')).toHaveLength(2);
  });

  test('ends for good when its maker leaves the organization', async () => {
    const { ours } = world;
    const made = await share(ours.member);
    const given = await share(ours.owner, { audience: 'person', userId: ours.memberId });
    expect((await world.service.call('DELETE', '/v1/me/membership', { as: ours.member })).status).toBe(200);
    expect((await open(made.token)).status).toBe(410);
    const revoked = (await listed()).filter(({ revokedAt }: { revokedAt?: string }) => revokedAt);
    expect(revoked.map(({ shareId }: { shareId: string }) => shareId)).toEqual([
      given.share.shareId,
      made.share.shareId,
    ]);
    const { entries } = (await call('GET', 'audit', ours.owner)).body;
    expect(entries.slice(0, 3).map(({ action }: { action: string }) => action)).toEqual([
      'share.revoked',
      'share.revoked',
      'member.left',
    ]);
  });

  test('by link does not reveal members of another organization who opened it', async () => {
    const { ours, theirs } = world;
    const { token } = await share(ours.member);
    expect((await open(token, theirs.member)).status).toBe(200);
    expect((await open(token, theirs.member, '/events')).status).toBe(200);
    const { views } = (await call('GET', `sessions/${ours.sessionId}/views`, ours.owner)).body;
    expect(views).toEqual([]);
  });

  test('counts readers of its events who never opened it', async () => {
    const { service, ours } = world;
    const { token } = await share(ours.member, { audience: 'organization' });
    for (let times = 0; times < 2; times++) await open(token, ours.admin, '/events');
    const { shares } = (await call('GET', `sessions/${ours.sessionId}/shares`, ours.member)).body;
    expect(shares).toMatchObject([{ views: 1, lastViewedAt: new Date(service.clock.now).toISOString() }]);
    const { views } = (await call('GET', `sessions/${ours.sessionId}/views`, ours.owner)).body;
    expect(views).toMatchObject([{ kind: 'opened', count: 1 }]);
  });

  test('counts an opening once, even if two writes of the counts meet', async () => {
    const { db } = world.service.store;
    const { share: shared } = await share(world.ours.member);
    const counts = new ShareCounts(db, () => world.service.clock.now);
    const shares = db.selectFrom('shares').selectAll().where('share_id', '=', shared.shareId);
    counts.note(await shares.executeTakeFirstOrThrow());
    await Promise.all([counts.flush(), counts.flush()]);
    expect(await shares.executeTakeFirstOrThrow()).toMatchObject({ views: 1 });
  });

  test('names the repository, but no folder of the machine', async () => {
    const { service, ours } = world;
    const { environmentId, installationId, live } = ours;
    const opening = { environmentId, agentInstallationId: installationId, repoRoot: '/home/kim/secret-plan' };
    const { sessionId } = (await service.call('POST', '/v1/sessions', { as: live, body: opening })).body;
    for (const level of ['full', 'outline', 'figures']) {
      const { text } = await open((await share(ours.member, { level }, sessionId)).token);
      expect(text).not.toContain('kim');
    }
  });

  test('shows its end according to the current policy', async () => {
    const { service, ours } = world;
    const { token } = await share(ours.member, { expiresAt: new Date(service.clock.now + 9 * DAY_MS) });
    await call('PUT', 'policy', ours.owner, { linkSharing: 'on', shareDays: 2 });
    const expiresAt = new Date(service.clock.now + 2 * DAY_MS).toISOString();
    expect((await open(token)).body).toMatchObject({ expiresAt });
    expect(await listed()).toMatchObject([{ expiresAt }]);
  });

  test('is removed with its session', async () => {
    const { service, ours } = world;
    const { token } = await share(ours.member);
    await call('DELETE', `sessions/${ours.sessionId}`, ours.owner);
    expect([404, 410]).toContain((await open(token)).status);
    await purgeRemoved(service.store.db, () => service.clock.now);
    const left = () => service.store.db.selectFrom('shares').select('session_id').execute();
    await expect.poll(left).not.toContainEqual({ session_id: ours.sessionId });
    expect((await open(token)).status).toBe(404);
  });

  test("counts its openings, and the session's person sees who looked", async () => {
    const { service, ours } = world;
    const sessionId = await openSigned(world, ours.member, 'team');
    const { token } = await share(ours.member, { audience: 'organization' }, sessionId);
    for (let times = 0; times < 3; times++) await open(token, ours.admin);
    await open(token, ours.admin, '/events');
    const { shares } = (await call('GET', `sessions/${sessionId}/shares`, ours.member)).body;
    expect(shares).toMatchObject([{ views: 3, lastViewedAt: new Date(service.clock.now).toISOString() }]);
    const { views } = (await call('GET', `sessions/${sessionId}/views`, ours.member)).body;
    expect(views).toMatchObject([{ kind: 'opened', count: 3 }]);
  });

  test('in outline has prompts, answers and calls, and no byte of tool outputs', async () => {
    const { service, ours } = world;
    const output = answered('canary in an output', { callId: 'one' });
    const unknown = { eventType: 'new.kind', payload: { text: 'canary in a new kind', rest: 'canary' } };
    const hidden = {
      ...said('an answer'),
      payload: { ...said('an answer').payload, rest: { toolUseResult: 'canary' } },
    };
    const events = [asked('a prompt'), hidden, called('Bash', { command: 'npm test' }, 'one'), output, unknown];
    const sent = await service.call('POST', `/v1/sessions/${ours.sessionId}/events`, {
      as: ours.live,
      body: { events },
    });
    expect(sent.status, sent.text).toBe(200);
    const full = await open((await share(ours.member)).token, undefined, '/events');
    expect(full.text.match(/canary/g)).toHaveLength(4);
    const { token } = await share(ours.member, { level: 'outline' });
    const outline = await open(token, undefined, '/events');
    expect(outline.status).toBe(200);
    expect(outline.body.events).toHaveLength(7);
    for (const shown of ['a prompt', 'an answer', 'npm test']) expect(outline.text).toContain(shown);
    expect(outline.text).not.toContain('canary');
  });

  test('writes its token to no line of the log', async () => {
    const { token } = await share(world.ours.member);
    await open(token);
    await open(token, undefined, '/events?limit=0');
    await open(token, 'nonsense');
    expect(world.service.log.join('\n')).not.toContain(token);
  });
});

test('an outline hides parts of large payloads, and fields that a type inherits', () => {
  const part = {
    source: { agent: 'codex', session: 's', file: '/home/kim/x', position: 1 },
    part: 1,
    of: 2,
    json: '{"a',
  };
  expect(JSON.parse(outlineOf('tool.call', Buffer.from(JSON.stringify(part))))).toEqual({
    source: { agent: 'codex', session: 's', file: '', position: 1 },
  });
  expect(outlineOf('constructor', Buffer.from('{"text":"x"}'))).toBe('{}');
});
