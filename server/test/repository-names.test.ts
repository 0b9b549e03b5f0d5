import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { sessionWith } from './searched.ts';

const SKILLS = 'github.com/entireio/skills';

describe.each(ENGINES)('a repository in rules and holds on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  let machine: Machine;
  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
    machine = await registerMachine(service, tenant.live);
    for (const repository of [
      'git@github.com:entireio/skills.git',
      'https://github.com/entireio/skills',
      'https://github.com/acme/shop',
      'https://gitlab.com/acme/shop',
      'https://github.com/acme/docs',
    ])
      await session({ repository });
    // Copilot CLI writes the host beside the short name.
    await session({
      repository: 'EntityProcess/agentv',
      rest: { data: { context: { hostType: 'github', repositoryHost: 'github.com' } } },
    });
    await session({ cwd: '/code/notes' });
  });
  afterAll(() => service.close());

  const session = (payload: object) => sessionWith(service, tenant, machine, [{ eventType: 'session.meta', payload }]);
  const ours = '/v1/organizations/me';
  const call = (method: string, path: string, body?: object) =>
    service.call(method, `${ours}/${path}`, { as: tenant.owner, ...(body && { body }) });
  const rule = (id: string) => ({ target: { kind: 'repository', id }, contentDays: 1, factsDays: 2 });
  const preview = (...ids: string[]) => call('POST', 'retention-preview', { retention: ids.map(rule) });

  test.each([
    SKILLS,
    'entireio/skills',
    'EntireIO/Skills',
    'skills',
    'git@github.com:entireio/skills.git',
    'https://github.com/entireio/skills.git',
    'ssh://git@github.com/EntireIO/skills',
  ])('is the same repository written as %s', async (text) => {
    const { status, body } = await preview(text);
    expect(status).toBe(200);
    expect(body.rules).toEqual([{ target: { kind: 'repository', id: SKILLS }, sessions: 2 }]);
    const held = await call('POST', 'holds', { target: { kind: 'repository', id: text }, reason: 'a lawsuit' });
    expect(held.body.hold.target).toEqual({ kind: 'repository', id: SKILLS });
    const { holds } = (await call('GET', 'holds')).body;
    expect(holds[0]).toMatchObject({ holdId: held.body.hold.holdId, sessions: 2 });
    await call('DELETE', `holds/${held.body.hold.holdId}`);
  });

  test('is stored in one form, so that two rules for it are one', async () => {
    const { status, body } = await call('PUT', 'policy', { retention: [rule('entireio/skills')] });
    expect(status).toBe(200);
    expect(body.retention[0].target.id).toBe(SKILLS);
    const twice = await call('PUT', 'policy', { retention: [rule('entireio/skills'), rule(SKILLS)] });
    expect(twice).toMatchObject({ status: 400, body: { error: expect.stringContaining('already has a rule') } });
  });

  test('is refused with the candidates if its name is ambiguous', async () => {
    for (const refused of [
      await preview('acme/shop'),
      await call('PUT', 'policy', { retention: [rule('acme/shop')] }),
      await call('POST', 'holds', { target: { kind: 'repository', id: 'shop' }, reason: 'x' }),
    ]) {
      expect(refused.status).toBe(400);
      expect(refused.body.error).toMatch(/: github\.com\/acme\/shop, gitlab\.com\/acme\/shop\. Write the one/);
    }
    expect((await preview('gitlab.com/acme/shop')).body.rules).toMatchObject([{ sessions: 1 }]);
  });

  test('is refused if its short name is unknown, but a rule or a hold may wait for a whole address', async () => {
    const unknown = await preview('entireio/skils');
    expect(unknown).toMatchObject({ status: 400, body: { error: expect.stringContaining('entireio/skils') } });
    expect((await preview('https://github.com/acme/later.git')).body.rules).toEqual([
      { target: { kind: 'repository', id: 'github.com/acme/later' }, sessions: 0 },
    ]);
    const hold = (id: string) => call('POST', 'holds', { target: { kind: 'repository', id }, reason: 'x' });
    expect((await hold('entireio/skils')).status).toBe(404);
    const { status, body } = await hold('https://github.com/acme/later.git');
    expect([status, body.hold.target.id]).toEqual([201, 'github.com/acme/later']);
    expect((await call('GET', 'holds')).body.holds[0]).toMatchObject({ holdId: body.hold.holdId, sessions: 0 });
    await call('DELETE', `holds/${body.hold.holdId}`);
  });

  test('may be a folder, and other targets are counted, too', async () => {
    const body = { retention: [rule('/code/notes'), { target: { kind: 'organization' }, factsDays: 9_000 }] };
    const { rules } = (await call('POST', 'retention-preview', body)).body;
    expect(rules.map(({ sessions }: { sessions: number }) => sessions)).toEqual([1, 7]);
  });

  test('has its host even if its agent writes the host beside its name, and all are listed', async () => {
    const names = async () => (await call('GET', 'repositories')).body.repositories;
    await call('GET', 'usage');
    await expect.poll(names, { timeout: 10_000 }).toContainEqual({ repository: SKILLS, sessions: 2 });
    expect(await names()).toContainEqual({ repository: 'github.com/EntityProcess/agentv', sessions: 1 });
  });

  test('is not ambiguous because of one that only hidden sessions have', async () => {
    const repository = 'https://hidden.test/acme/docs';
    const sessionId = await session({ repository });
    await expect.poll(async () => (await preview('acme/docs')).status, { timeout: 10_000 }).toBe(400);
    const body = { visibility: 'private' };
    expect((await call('PUT', `sessions/${sessionId}/visibility`, body)).status).toBe(200);
    expect((await preview('acme/docs')).body.rules).toEqual([
      { target: { kind: 'repository', id: 'github.com/acme/docs' }, sessions: 1 },
    ]);
  });
});
