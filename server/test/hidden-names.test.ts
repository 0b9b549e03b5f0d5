import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { createTenant, openSession, registerMachine, type Tenant, whenDerived } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { signInMachine } from './signed-in.ts';

const SECRET = 'zqmerger';
const DAYS = 'from=2026-11-01&to=2026-11-30';
const at = (hour: string) => ({ occurredAt: `2026-11-20T${hour}:00:00.000Z` });

/** Events that name a repository, a model, a tool of an MCP server and a type of sub-agents. */
const eventsOf = (word: string) => [
  { eventType: 'session.meta', payload: { repository: `git@git.test:o/${word}.git`, cwd: '/home/ada/x', model: word } },
  { eventType: 'user.message', payload: { text: 'Please', ...at('09') } },
  { eventType: 'tool.call', payload: { callId: 'c', name: `mcp__${word}__find`, input: {}, ...at('10') } },
  {
    eventType: 'tool.call',
    payload: { callId: 'd', name: 'Task', input: { subagent_type: `${word}-reader` }, ...at('11') },
  },
  { eventType: 'usage', payload: { responseId: 'r', model: word, inputTokens: 500, outputTokens: 0, ...at('12') } },
];

describe.each(ENGINES)('names that only a private session has on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  const sessionIds: string[] = [];

  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
    const secret = await signInMachine(service, tenant.member, 'laptop of the member');
    const machine = await registerMachine(service, secret);
    for (const word of ['shop', SECRET]) {
      const sessionId = await openSession(service, secret, machine);
      const late = { callId: 'e', name: 'mcp__shop__find', input: {}, ...at('23') };
      const body = {
        events: [...eventsOf(word), ...(word === SECRET ? [{ eventType: 'tool.call', payload: late }] : [])],
      };
      expect((await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: secret, body })).status).toBe(200);
      await whenDerived(service, tenant.member, sessionId, body.events.length);
      sessionIds.push(sessionId);
    }
    const url = `/v1/organizations/me/sessions/${sessionIds[1]}/visibility`;
    const hidden = await service.call('PUT', url, { as: tenant.member, body: { visibility: 'private' } });
    expect(hidden.status, hidden.text).toBe(200);
  });
  afterAll(() => service.close());

  const read = async (path: string, as: string) => {
    for (;;) {
      const reply = await service.call('GET', `/v1/organizations/me/${path}`, { as });
      expect(reply.status, reply.text).toBe(200);
      if (!reply.body.catchingUp) return reply;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const usage = (as: string) => read(`usage?${DAYS}`, as);

  test.each([`usage?${DAYS}`, 'repositories', `add-ons?${DAYS}`])(
    'are shown to its person alone by %s',
    async (path) => {
      await usage(tenant.member);
      for (const as of [tenant.admin, tenant.owner]) {
        const { text } = await read(path, as);
        expect(text).toContain('shop');
        expect(text).not.toContain(SECRET);
      }
      expect((await read(path, tenant.member)).text).toContain(SECRET);
    },
  );

  test('do not tell when it called an add-on of others', async () => {
    const lastUses = async (as: string) => {
      const { addOns } = (await read(`add-ons?${DAYS}`, as)).body;
      return addOns.flatMap((one: { name: string; lastUsedAt: string }) =>
        one.name === 'shop' ? [one.lastUsedAt] : [],
      );
    };
    expect(await lastUses(tenant.owner)).toEqual(['2026-11-20T10:00:00.000Z']);
    expect(await lastUses(tenant.member)).toEqual(['2026-11-20T23:00:00.000Z']);
  });

  test('are counted among the others in the figures', async () => {
    const { total, groups } = (await usage(tenant.owner)).body;
    expect(total).toMatchObject({ sessions: 2, prompts: 2, toolCalls: 5, inputTokens: 1_000 });
    for (const dimension of ['repository', 'model']) {
      const others = groups.filter((group: { dimension: string }) => group.dimension === dimension);
      expect(
        others.map(({ value, inputTokens }: { value: string; inputTokens: number }) => [value, inputTokens]),
      ).toEqual([
        [dimension === 'model' ? 'shop' : 'git.test/o/shop', 500],
        ['', 500],
      ]);
    }
  });

  test('are in no refusal and no count of a rule or a hold, but a whole address concerns the session', async () => {
    const target = (id: string) => ({ kind: 'repository', id });
    const post = (path: string, body: object) =>
      service.call('POST', `/v1/organizations/me/${path}`, { as: tenant.owner, body });
    const preview = (id: string) => post('retention-preview', { retention: [{ target: target(id), contentDays: 1 }] });
    const hold = (id: string) => post('holds', { target: target(id), reason: 'a lawsuit' });
    for (const [ask, hidden, absent] of [
      [preview, `o/${SECRET}`, 'o/nothing'],
      [hold, `o/${SECRET}`, 'o/nothing'],
      [preview, `git.test/o/${SECRET}`, 'git.test/o/nothing'],
      [preview, `git.test/o/${SECRET.toUpperCase()}`, 'git.test/o/NOTHING'],
    ] as const) {
      const [told, expected] = [await ask(hidden), await ask(absent)];
      expect([told.status, told.body.rules, told.body.error?.replace(hidden, absent)]).toEqual([
        expected.status,
        expected.body.rules?.map((rule: object) => ({ ...rule, target: target(hidden) })),
        expected.body.error,
      ]);
    }
    for (const written of [`git.test/o/${SECRET}`, `git.test/O/${SECRET.toUpperCase()}`, `git.test/o/${SECRET}/`]) {
      const { body } = await hold(written);
      const { holds } = (await read('holds', tenant.owner)).body;
      expect(holds[0]).toMatchObject({ holdId: body.hold.holdId, sessions: 0 });
      const facts = await read(`sessions/${sessionIds[1]}/facts`, tenant.member);
      expect(facts.body.holdId, written).toBe(body.hold.holdId);
      await service.call('DELETE', `/v1/organizations/me/holds/${body.hold.holdId}`, { as: tenant.owner });
    }
  });

  test('are shown again once the session is', async () => {
    const url = `/v1/organizations/me/sessions/${sessionIds[1]}/visibility`;
    await service.call('PUT', url, { as: tenant.member, body: { visibility: 'facts' } });
    for (const path of [`usage?${DAYS}`, 'repositories', `add-ons?${DAYS}`]) {
      expect((await read(path, tenant.owner)).text).toContain(SECRET);
    }
  });
});
