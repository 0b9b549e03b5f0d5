import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findSource } from '../store/sources.ts';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant, whenDerived } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { find, idsOf } from './searched.ts';

const SHOP = 'git.example.com/acme/shop';
const SHOP_REMOTE = 'git@git.example.com:acme/shop.git';

describe.each(ENGINES)('the repository of a session on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  let machine: Machine;
  const ids: string[] = [];

  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
    machine = await registerMachine(service, tenant.live);
    await capture({ repoRoot: '/code/shop', repoRemote: 'https://ada:hunter2@git.example.com/acme/shop.git' });
    await capture({ repoRoot: '/home/bob/shop', repoRemote: 'git@git.example.com:acme/shop.git' }, 'acme/shop');
    await capture({ repoRoot: '/code/tree', repoRemote: 'ssh://git@git.example.com:2222/acme/shop?token=hunter2' });
    // The clients of these sessions report no remote.
    await capture({ repoRoot: '/code/shop' });
    await capture({ repoRoot: '/code/notes' });
    await capture({ repoRoot: '/code/shop' }, 'https://git.example.com/acme/docs');
  });
  afterAll(() => service.close());

  /** Captures a session with the opening's fields; its agent reports the repository `said` if it is given. */
  async function capture(opening: object, said?: string): Promise<void> {
    const clientKey = `session-${ids.length}`.padEnd(43, '_');
    const place = { environmentId: machine.environmentId, agentInstallationId: machine.installationId };
    const body = { sessions: [{ ...place, clientKey, ...opening }] };
    const opened = await service.call('POST', '/v1/captured-sessions', { as: tenant.live, body });
    const { sessionId } = opened.body.results[0].session;
    const payload = said === undefined ? {} : { repository: said };
    const appended = await service.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: tenant.live,
      body: { events: [{ eventType: 'session.meta', payload }] },
    });
    expect(appended.status, appended.text).toBe(200);
    await whenDerived(service, tenant.member, sessionId, 1);
    ids.push(sessionId);
  }

  const summaries = async (): Promise<{ sessionId: string; repository: string }[]> => {
    const url = `/v1/organizations/me/session-summaries?sessionIds=${ids.join(',')}`;
    return (await service.call('GET', url, { as: tenant.member })).body.summaries;
  };

  test('is its remote in a canonical form, otherwise a remote of the same folder, otherwise the folder', async () => {
    const found = new Map((await summaries()).map(({ sessionId, repository }) => [sessionId, repository]));
    expect(ids.map((id) => found.get(id))).toEqual([
      SHOP,
      SHOP,
      SHOP,
      SHOP,
      '/code/notes',
      'git.example.com/acme/docs',
    ]);
  });

  test.each([
    [SHOP, 4],
    ['git@git.example.com:acme/shop.git', 4],
    ['https://someone@git.example.com/acme/shop', 4],
    ['acme/shop', 4],
    ['shop', 4],
    ['acme/docs', 1],
    ['/code/notes', 1],
    ['other/shop', 0],
  ])('is found by repo:%s', async (asked, count) => {
    const reply = await find(service, tenant.member, { q: `repo:"${asked}"` });
    expect(idsOf(reply)).toHaveLength(count);
  });

  test('is stored without the credentials of its remote', async () => {
    const rows = await service.store.db.selectFrom('sessions').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain('hunter2');
  });

  test('is stored for the longest possible folder with hardly repeating characters', async () => {
    const place = { environmentId: machine.environmentId, agentInstallationId: machine.installationId };
    const repoRoot = `/${Array.from({ length: 4_095 }, () => String.fromCodePoint(randomInt(0x4e00, 0x9fff))).join('')}`;
    for (const clientKey of ['one', 'two'].map((key) => key.padEnd(43, '_'))) {
      const opening = {
        ...place,
        clientKey,
        repoRoot,
        ...(clientKey.startsWith('one') && { repoRemote: SHOP_REMOTE }),
      };
      const body = { sessions: [opening] };
      const opened = await service.call('POST', '/v1/captured-sessions', { as: tenant.live, body });
      expect(opened.body, opened.text).toMatchObject({ results: [{ outcome: 'opened' }] });
      const { sessionId } = opened.body.results[0].session;
      const source = await findSource(service.store.db, tenant.organizationId, sessionId);
      expect(source?.remote).toBe(SHOP);
    }
  });

  test('is not taken from a session on the other plane or from a deleted session', async () => {
    const place = { environmentId: machine.environmentId, agentInstallationId: machine.installationId };
    const open = async (secret: string, clientKey: string, opening: object): Promise<string> => {
      const body = {
        sessions: [{ ...place, clientKey: clientKey.padEnd(43, '_'), repoRoot: '/code/spare', ...opening }],
      };
      return (await service.call('POST', '/v1/captured-sessions', { as: secret, body })).body.results[0].session
        .sessionId;
    };
    await open(tenant.test, 'other-plane', { repoRemote: SHOP_REMOTE });
    const deleted = await open(tenant.live, 'deleted', { repoRemote: SHOP_REMOTE });
    const alone = await open(tenant.live, 'alone', {});
    const remote = async () => (await findSource(service.store.db, tenant.organizationId, alone))?.remote;
    expect(await remote()).toBe(SHOP);
    const session = service.store.db.updateTable('sessions').where('session_id', '=', deleted);
    await session.set({ deleted_at: 1 }).execute();
    expect(await remote()).toBeNull();
    await session.set({ deleted_at: null }).execute();
  });

  test('may be given for a past session, and the public interface ignores it', async () => {
    const place = { environmentId: machine.environmentId, agentInstallationId: machine.installationId };
    const repoRemote = 'git@git.example.com:acme/shop.git';
    const past = { ...place, startedAt: '2026-01-01T00:00:00.000Z', repoRemote };
    const ofPast = await service.call('POST', '/v1/past-sessions', { as: tenant.live, body: past });
    const opened = await service.call('POST', '/v1/sessions', { as: tenant.live, body: { ...place, repoRemote: 7 } });
    expect([ofPast.status, opened.status]).toEqual([201, 201]);
    const stored = await service.store.db
      .selectFrom('sessions')
      .select('repository')
      .where('session_id', 'in', [ofPast.body.sessionId, opened.body.sessionId])
      .orderBy('session_id')
      .execute();
    expect(stored).toEqual([{ repository: SHOP }, { repository: null }]);
    const wrong = await service.call('POST', '/v1/past-sessions', {
      as: tenant.live,
      body: { ...past, repoRemote: 7 },
    });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  });
});
