import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { expectProblem } from './shape.ts';

const SESSIONS = 130;

interface Page {
  sessions: { sessionId: string; startedAt: string; secretEnvironment: string }[];
  nextCursor: string | null;
}

describe.each(ENGINES)('pages of sessions on %s', (engine) => {
  let service: TestService;
  let ours: Tenant;
  let first: Machine;
  let second: Machine;
  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service);
    first = await registerMachine(service, ours.live);
    second = await registerMachine(service, ours.live);
    // Ten sessions share each moment, so that the id decides; the last ten are on the test plane.
    for (let index = 0; index < SESSIONS; index++) {
      const machine = index % 3 === 0 ? second : first;
      const startedAt = new Date(Date.UTC(2020, 0, 1) + Math.floor(index / 10) * 1_000).toISOString();
      const body = { environmentId: machine.environmentId, agentInstallationId: machine.installationId, startedAt };
      await service.call('POST', '/v1/past-sessions', { as: index < SESSIONS - 10 ? ours.live : ours.test, body });
    }
  });
  afterAll(() => service.close());

  const get = (query: string) => service.call('GET', `/v1/organizations/me/sessions${query}`, { as: ours.member });
  const page = async (query: string): Promise<Page> => (await get(query)).body;

  test.each([
    ['', 50],
    ['?limit=1', 1],
    ['?limit=99', 99],
    ['?limit=100', 100],
    ['?limit=101', 100],
    ['?limit=999999999999999999999', 100],
    ['?limit=0', 50],
    ['?limit=-1', 50],
    ['?limit=1.5', 50],
    ['?limit=abc', 50],
    ['?limit=1&limit=2', 2],
    ['?limit=', 50],
    ['?limit=1e1', 50],
    ['?limit=0x10', 50],
  ])('%j gives a page of %i', async (query, size) => {
    const { sessions, nextCursor } = await page(query);
    expect(sessions).toHaveLength(size);
    expect(nextCursor).toEqual(expect.any(String));
  });

  test('the newest comes first, and the id decides within one moment', async () => {
    const { sessions } = await page('?limit=100');
    const sorted = [...sessions].sort(
      (a, b) => b.startedAt.localeCompare(a.startedAt) || (a.sessionId < b.sessionId ? 1 : -1),
    );
    expect(sessions).toEqual(sorted);
    expect(new Set(sessions.map(({ startedAt }) => startedAt)).size).toBe(10);
  });

  test.each([
    [1, 'live', 120],
    [7, 'live', 120],
    [50, 'all', 130],
    [100, 'test', 10],
    [10, 'test', 10],
    [60, 'live', 120],
  ])('pages of %i of the plane %s together are the whole of %i', async (limit, plane, total) => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const at: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { sessions, nextCursor } = await page(`?limit=${limit}&secretEnvironment=${plane}${at}`);
      expect(sessions.length).toBeGreaterThan(0);
      seen.push(...sessions.map(({ sessionId }) => sessionId));
      cursor = nextCursor;
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(total);
    expect(seen).toHaveLength(total);
  });

  test('the live plane is the default', async () => {
    const planes = async (query: string) =>
      new Set((await page(query)).sessions.map(({ secretEnvironment }) => secretEnvironment));
    expect(await planes('?limit=100')).toEqual(new Set(['live']));
    expect(await planes('?secretEnvironment=live')).toEqual(new Set(['live']));
    expect(await planes('?secretEnvironment=test')).toEqual(new Set(['test']));
    expect(await planes('?secretEnvironment=all')).toEqual(new Set(['live', 'test']));
  });

  test('filters narrow the list, alone and together', async () => {
    const count = async (query: string) => (await page(`?limit=100&secretEnvironment=all${query}`)).sessions.length;
    expect(await count(`&environmentId=${second.environmentId}`)).toBe(44);
    expect(await count(`&environmentId=${first.environmentId}&agentId=codex`)).toBe(86);
    expect(await count(`&environmentId=${second.environmentId}&agentId=goose`)).toBe(0);
    expect(await count('&agentId=unheard-of')).toBe(0);
    expect(await count('&environmentId=env_none')).toBe(0);
    expect(await count('&environmentId=%00')).toBe(0);
  });

  test('sessions of another organization are not listed', async () => {
    const other = await createTenant(service);
    const { body } = await service.call('GET', '/v1/organizations/me/sessions?secretEnvironment=all', {
      as: other.owner,
    });
    expect(body).toEqual({ sessions: [], nextCursor: null });
    const foreign = `?secretEnvironment=all&environmentId=${first.environmentId}`;
    const filtered = await service.call('GET', `/v1/organizations/me/sessions${foreign}`, { as: other.owner });
    expect(filtered.body.sessions).toEqual([]);
  });

  test('the cursor is base64url of an offset', async () => {
    const { nextCursor } = await page('?limit=60');
    expect(Buffer.from(String(nextCursor), 'base64url').toString()).toContain('60');
  });

  test.each(['', 'x', 'bzotMQ', 'bzoxLjU', 'czox', '%00', 'bzo5OTk5OTk5OTk5OTk5OTk5OTk'])(
    'the cursor %j is refused',
    async (cursor) => {
      expectProblem(await get(`?cursor=${cursor}`), 400, 'validation_failed');
    },
  );

  test('a cursor beyond the end gives an empty page', async () => {
    const beyond = Buffer.from('o:100000').toString('base64url');
    expect(await page(`?cursor=${beyond}`)).toEqual({ sessions: [], nextCursor: null });
  });
});
