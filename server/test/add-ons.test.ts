import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AddOns } from '../../contract/add-ons.ts';
import { ENGINES } from './engines.ts';
import { createTenant, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { find, idsOf, sessionWith } from './searched.ts';

const source = { agent: 'claude-code', session: 's', file: 'f', position: 0 };
const occurredAt = '2026-11-20T10:00:00.000Z';
const event = (eventType: string, fields: object, more: object = {}) => ({
  eventType,
  payload: { source: { ...source, ...more }, occurredAt, ...fields },
});
const called = (callId: string, name: string, input: object) => event('tool.call', { callId, name, input });

const EVENTS = [
  event('session.meta', { cwd: '/home/ada/shop', model: 'claude-sonnet-4-5' }),
  event('context.message', {
    kind: 'skill_listing',
    text: '- seo: Search',
    rest: { attachment: { type: 'skill_listing' } },
  }),
  called('1', 'mcp__playwright__browser_click', {}),
  event('tool.result', { callId: '1', output: 'no such element', isError: true }),
  called('2', 'mcp__playwright__browser_open', {}),
  event('tool.result', { callId: '2', output: 'ok' }),
  called('3', 'Skill', { skill: 'superpowers:brainstorming' }),
  called('4', 'Task', { subagent_type: 'Explore', prompt: 'Look' }),
  event('subagent.started', { subagent: 'a1', callId: '4' }),
  event(
    'usage',
    { responseId: 'r1', model: 'claude-sonnet-4-5', inputTokens: 1_000, outputTokens: 10 },
    { subagent: 'a1' },
  ),
  event(
    'usage',
    { responseId: 'r1', model: 'claude-sonnet-4-5', inputTokens: 1_000, outputTokens: 90 },
    { subagent: 'a1' },
  ),
];

describe.each(ENGINES)('add-ons on %s', (engine) => {
  let service: TestService;
  let ours: Tenant;
  let theirs: Tenant;
  let sessionId: string;

  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service);
    theirs = await createTenant(service);
    const machine = await registerMachine(service, ours.live);
    sessionId = await sessionWith(service, ours, machine, EVENTS);
    await sessionWith(service, ours, machine, EVENTS.slice(0, 6));
    await sessionWith(service, theirs, await registerMachine(service, theirs.live), [
      called('1', 'mcp__secret__x', {}),
    ]);
  });
  afterAll(() => service.close());

  async function read(as: string, more = ''): Promise<AddOns> {
    const url = `/v1/organizations/me/add-ons?from=2026-11-01&to=2026-11-30${more}`;
    const { status, body, text } = await service.call('GET', url, { as });
    expect(status, text).toBe(200);
    return body;
  }

  test('are sorted by use, each with its callers, and unused ones come last', async () => {
    const { addOns, isWhole } = await read(ours.member);
    expect(isWhole).toBe(true);
    expect(
      addOns.map(({ kind, name, calls, failures, sessions, listed }) => [
        kind,
        name,
        calls,
        failures,
        sessions,
        listed,
      ]),
    ).toEqual([
      ['mcp', 'playwright', 4, 2, 2, 0],
      ['plugin', 'superpowers', 1, 0, 1, 0],
      ['skill', 'superpowers:brainstorming', 1, 0, 1, 0],
      ['subagent', 'Explore', 1, 0, 1, 0],
      ['skill', 'seo', 0, 0, 0, 2],
    ]);
    expect(addOns[0]).toMatchObject({ people: 0, topPeople: [], lastUsedAt: occurredAt });
    expect(addOns.at(-1)).not.toHaveProperty('lastUsedAt');
  });

  test('count the tokens and the cost of sub-agents alone, each response once', async () => {
    const { addOns } = await read(ours.member);
    const priced = addOns.filter(({ tokens, cost }) => tokens !== undefined || cost !== undefined);
    expect(priced).toMatchObject([{ kind: 'subagent', name: 'Explore', tokens: 1_090 }]);
    expect(priced[0]?.cost).toBeCloseTo((1_000 * 3 + 90 * 15) / 1_000_000, 9);
  });

  test('can be filtered by kind, plane and days, and never include another organization', async () => {
    expect((await read(ours.member, '&kind=skill')).addOns.map(({ name }) => name)).toEqual([
      'superpowers:brainstorming',
      'seo',
    ]);
    expect((await read(ours.member, '&secretEnvironment=test')).addOns).toEqual([]);
    const url = '/v1/organizations/me/add-ons?from=2026-11-21&to=2026-11-30';
    expect((await service.call('GET', url, { as: ours.member })).body.addOns).toEqual([]);
    expect(JSON.stringify(await read(ours.member))).not.toContain('secret');
  });

  test('work as filters of the session list', async () => {
    const found = async (q: string) => idsOf(await find(service, ours.member, { q, secretEnvironment: 'live' }));
    expect(await found('skill:superpowers:brainstorming')).toEqual([sessionId]);
    expect(await found('subagent:explore')).toEqual([sessionId]);
    expect(await found('plugin:superpowers')).toEqual([sessionId]);
    expect(await found('mcp:playwright')).toHaveLength(2);
    expect(await found('skill:seo')).toEqual([]);
  });
});
