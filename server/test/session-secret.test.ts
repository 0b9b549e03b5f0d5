import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOGS } from './engines.ts';
import { createTenant, type Machine, openSession, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { find, idsOf } from './searched.ts';

describe.each(LOGS)('the secret of a session on %s', (log) => {
  let service: TestService;
  let ours: Tenant;
  let machine: Machine;
  let laptop: { secretId: string; value: string };
  const opened: string[] = [];

  const issue = async (name: string) =>
    (await service.call('POST', '/v1/organizations/me/secrets', { as: ours.owner, body: { name } })).body;

  beforeAll(async () => {
    service = await startTestService(log);
    ours = await createTenant(service);
    machine = await registerMachine(service, ours.live);
    laptop = await issue('Laptop of Kim');
    await openSession(service, ours.live, machine);
    opened.push(await openSession(service, laptop.value, machine));
    opened.push(await capture(laptop.value));
  });
  afterAll(() => service.close());

  async function capture(as: string): Promise<string> {
    const { environmentId, installationId: agentInstallationId } = machine;
    const session = { clientKey: 'codex_session-of-kim', environmentId, agentInstallationId };
    const { body } = await service.call('POST', '/v1/captured-sessions', { as, body: { sessions: [session] } });
    return body.results[0].session.sessionId;
  }

  test.each([
    ['its id', () => `secret:${laptop.secretId}`],
    ['the start of its name', () => 'secret:laptop'],
    ['its full name', () => 'secret:"Laptop of Kim"'],
    ['its name or another name', () => 'secret:laptop secret:nowhere'],
  ])('finds the sessions that it opened by %s', async (_, q) => {
    const reply = await find(service, ours.member, { q: q() });
    expect(idsOf(reply).sort(), reply.text).toEqual([...opened].sort());
  });

  test('stays the one that opened the session after another secret found it again', async () => {
    const next = await issue('Next laptop');
    expect(await capture(next.value)).toBe(opened[1]);
    expect(idsOf(await find(service, ours.member, { q: 'secret:next' }))).toEqual([]);
  });

  test("is in the session's summary, and not in the session itself", async () => {
    const { body } = await find(service, ours.member, { q: 'secret:laptop' });
    for (const { session, summary } of body.sessions) {
      expect(summary.secretId).toBe(laptop.secretId);
      expect(session).not.toHaveProperty('secretId');
    }
  });
});
