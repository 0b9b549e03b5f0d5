import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Session, VISIBILITIES, type Visibility } from '../../contract/session.ts';
import { LOGS, type TestEngine } from './engines.ts';
import { issueSecret, registerMachine, whenDerived } from './factories.ts';
import type { TestReply } from './harness.ts';
import { type AnyRouteName, type Ask, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { answered, asked, called, said } from './searched.ts';
import { openingOn, signInMachine } from './signed-in.ts';
import { ASKS, CHANGES, CONTENT_WITHOUT_LOOK, canary, PLACES, type Target, targets } from './visibility-asks.ts';
import { startWorld, type World } from './world.ts';

type Sight = 'all' | 'facts' | 'nothing' | 'own machine';

/** All callers, with their sight of the member's session for each visibility. */
const CALLERS: { name: string; as: (world: World) => string | undefined; sees: Record<Visibility, Sight> }[] = [
  { name: 'its person', as: ({ ours }) => ours.member, sees: { team: 'all', facts: 'all', private: 'all' } },
  { name: 'another member', as: () => colleague, sees: { team: 'all', facts: 'facts', private: 'nothing' } },
  { name: 'an admin', as: ({ ours }) => ours.admin, sees: { team: 'all', facts: 'facts', private: 'nothing' } },
  { name: 'the owner', as: ({ ours }) => ours.owner, sees: { team: 'all', facts: 'facts', private: 'nothing' } },
  ...(['member', 'admin', 'owner'] as const).map((role) => ({
    name: `the ${role} of another organization`,
    as: ({ theirs }: World) => theirs[role],
    sees: { team: 'nothing', facts: 'nothing', private: 'nothing' } as const,
  })),
  { name: 'nobody', as: () => undefined, sees: { team: 'nothing', facts: 'nothing', private: 'nothing' } },
  {
    name: 'the secret of its machine',
    as: () => machineSecret,
    sees: { team: 'own machine', facts: 'own machine', private: 'own machine' },
  },
  {
    name: 'the secret of another machine',
    as: () => otherSecret,
    sees: { team: 'nothing', facts: 'nothing', private: 'nothing' },
  },
];

let colleague: string;
let machineSecret: string;
let otherSecret: string;

describe.each(LOGS)('what each caller gets from each route on %s', (engine) => {
  let world: World;
  const sessions = {} as Record<Visibility, Target>;
  let combinations = 0;

  beforeAll(async () => {
    world = await startWorld(engine);
    const { service, ours } = world;
    const email = 'ours-colleague@example.com';
    await service.call('POST', '/v1/organizations/me/members', { as: ours.owner, body: { email } });
    colleague = await service.identity.token({ subject: 'ours-colleague', email });
    machineSecret = await signInMachine(service, ours.member, 'laptop of the member');
    otherSecret = await issueSecret(service, ours.owner, 'live');
    for (const visibility of VISIBILITIES) sessions[visibility] = await createTarget(world, engine, visibility);
  }, 120_000);
  afterAll(async () => {
    process.stdout.write(
      `${engine}: ${combinations} answers were searched for words that their callers may not read\n`,
    );
    await world.service.close();
  });

  const ask = async (route: AnyRouteName, target: Target, as: string | undefined) => {
    const asks = ASKS[route];
    if (typeof asks === 'string') throw new Error(asks);
    const replies = [];
    for (const one of asks(target, world)) {
      const reply = await request(world.service, route, one, as);
      combinations++;
      replies.push({ ask: one, reply, text: withDecoded(reply.text) });
    }
    return replies;
  };

  const ASKED = ROUTE_NAMES.filter((route) => typeof ASKS[route] !== 'string');

  describe.each(CALLERS)('for $name', ({ as, sees }) => {
    test.each(ASKED)('%s answers with no word that they may not read', async (route) => {
      for (const target of targets(sessions)) {
        const sight = sees[target.visibility];
        for (const { ask: one, text, reply } of await ask(route, target, as(world)))
          expectOnly(sight, route, target, one, text, reply);
      }
    });
  });

  test('every word can be found: its person finds each, and readers of its facts find its files', async () => {
    for (const { visibility, ...target } of targets(sessions)) {
      const textOf = async (as: string) => {
        const all = [];
        for (const route of ASKED)
          for (const { text } of await ask(route, { visibility, ...target }, as)) all.push(text);
        return all.join('\n');
      };
      const own = await textOf(world.ours.member);
      for (const place of [...PLACES, 'file'] as const) expect(own).toContain(canary(visibility, place));
      expect((await textOf(colleague)).includes(canary(visibility, 'file'))).toBe(visibility !== 'private');
    }
  });

  /** Requests about the session, and a count of a word in it, which answers whether the session has that word. */
  const asksOf = (route: AnyRouteName, target: Target): Ask[] => {
    const asks = ASKS[route];
    const counted = CHANGES.maskText(target).map(({ params, body }) => ({ params, body: { ...body, dryRun: true } }));
    if (typeof asks === 'string') throw new Error(asks);
    return route === 'maskText' ? counted : asks(target, world);
  };

  test.each(ASKED)('%s notes a look if it answers with content', async (route) => {
    const { service, ours } = world;
    const target = sessions.team;
    const as = TABLE[route].auth === 'secret' ? machineSecret : colleague;
    const listLooks = async () => {
      const url = `/v1/organizations/me/sessions/${target.sessionId}/views`;
      return (await service.call('GET', url, { as: ours.member })).body.views;
    };
    await listLooks();
    await service.store.db.deleteFrom('session_views').execute();
    let hasContent = route === 'maskText';
    for (const one of asksOf(route, target)) {
      const text = withDecoded((await request(service, route, one, as)).text);
      const unsent = PLACES.map((place) => canary('team', place)).filter((word) => !JSON.stringify(one).includes(word));
      hasContent ||= unsent.some((word) => text.includes(word));
    }
    const isNoted = (await listLooks()).length > 0;
    if (hasContent) expect(isNoted).toBe(CONTENT_WITHOUT_LOOK[route] === undefined);
    else expect(CONTENT_WITHOUT_LOOK[route]).toBeUndefined();
  });

  test('the sums are the same for everybody, and count every session', async () => {
    const totalOf = async (as: string) => (await ask('getUsage', sessions.private, as))[0]?.reply.body.total;
    const own = await totalOf(world.ours.member);
    expect(own.sessions).toBeGreaterThanOrEqual(VISIBILITIES.length);
    for (const as of [colleague, world.ours.admin, world.ours.owner]) expect(await totalOf(as)).toEqual(own);
  });

  test('an admin may not delete, hold or open a session that is hidden from them', async () => {
    const { service, ours } = world;
    const url = `/v1/organizations/me/sessions/${sessions.private.sessionId}`;
    const hold = { target: { kind: 'session', id: sessions.private.sessionId }, reason: 'a lawsuit' };
    const statuses = [
      (await service.call('DELETE', url, { as: ours.admin })).status,
      (await service.call('POST', '/v1/organizations/me/holds', { as: ours.admin, body: hold })).status,
      (await service.call('PUT', `${url}/visibility`, { as: ours.owner, body: { visibility: 'team' } })).status,
    ];
    expect(statuses).toEqual([404, 404, 404]);
    expect((await service.call('GET', url, { as: ours.member })).status).toBe(200);
  });

  test.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])(
    '%s answers about a hidden session as about an unknown one, and changes nothing',
    async (route) => {
      const { service, ours } = world;
      const target = sessions.private;
      const url = `/v1/organizations/me/sessions/${target.sessionId}`;
      const before = (await service.call('GET', url, { as: ours.member })).body;
      const none = { ...target, sessionId: 'ses_none', clientKey: 'key-of-no-session-at-all' };
      for (const as of [colleague, ours.admin, ours.owner, otherSecret]) {
        for (const [at, one] of CHANGES[route](target).entries()) {
          const hidden = await request(service, route, one, as);
          const absent = await request(service, route, CHANGES[route](none)[at] as Ask, as);
          combinations++;
          const shown = hidden.text.replaceAll(target.sessionId, none.sessionId);
          expect([hidden.status, shown], JSON.stringify(one)).toEqual([absent.status, absent.text]);
          expect([401, 403, 404], hidden.text).toContain(hidden.status);
          expectOnly('nothing', route, target, one, withDecoded(hidden.text), hidden);
        }
      }
      expect((await service.call('GET', url, { as: ours.member })).body).toEqual(before);
    },
  );

  test.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])(
    '%s reveals no word to a caller who sees facts alone, and leaves the session as it is',
    async (route) => {
      const { service, ours } = world;
      const target = sessions.facts;
      const url = `/v1/organizations/me/sessions/${target.sessionId}`;
      const read = async () => [
        (await service.call('GET', url, { as: ours.member })).body,
        (await service.call('GET', `${url}/events`, { as: ours.member })).body,
      ];
      const before = await read();
      for (const as of [colleague, otherSecret]) {
        for (const one of CHANGES[route](target)) {
          const reply = await request(service, route, one, as);
          combinations++;
          expectOnly(as === colleague ? 'facts' : 'nothing', route, target, one, withDecoded(reply.text), reply);
          // A caller who sees the figures may share them.
          const isOfFigures =
            route === 'createShare' && JSON.stringify(one).includes('"organization","level":"figures"');
          if (!isOfFigures) expect([400, 401, 403, 404], reply.text).toContain(reply.status);
        }
      }
      expect(await read()).toEqual(before);
    },
  );

  test('admins see everything if an owner allows it, every member can see that setting, and nobody else sees more', async () => {
    const { service, ours } = world;
    const say = (adminsSeeAll: boolean) =>
      service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body: { adminsSeeAll } });
    expect((await say(true)).status).toBe(200);
    for (const as of [colleague, ours.admin, ours.member])
      expect((await service.call('GET', '/v1/me', { as })).body.adminsSeeAll).toBe(true);
    for (const target of targets(sessions)) {
      for (const as of [ours.admin, ours.owner]) {
        const [events] = await ask('listSessionEvents', target, as);
        expect(events?.text).toContain(canary(target.visibility, 'content'));
      }
      for (const route of ASKED) {
        const sight = CALLERS[1]?.sees[target.visibility] as Sight;
        for (const { ask: one, text, reply } of await ask(route, target, colleague))
          expectOnly(sight, route, target, one, text, reply);
      }
    }
    await say(false);
    expect((await service.call('GET', '/v1/me', { as: colleague })).body).not.toHaveProperty('adminsSeeAll');
  });
});

const isOfContent = ({ query }: Ask) => /zq|command:|tests:|commit:/.test(String(query?.q).replace(/file:\S+/g, ''));

/** Routes that may name a hidden session's id, because that is their purpose. */
const NAMES_IDS: readonly AnyRouteName[] = ['listHolds', 'captureSessions', 'listEventDigests'];

function expectOnly(sight: Sight, route: AnyRouteName, target: Target, ask: Ask, text: string, reply: TestReply): void {
  const { visibility, sessionId } = target;
  const place = `${route} ${JSON.stringify(ask)}`;
  // An answer may repeat its request.
  const sent = JSON.stringify(ask);
  if (sight === 'all') return;
  // A machine knows the title that it sent, but may not read anything back.
  const hidden = PLACES.filter((one) => sight !== 'own machine' || one !== 'title').map((one) =>
    canary(visibility, one),
  );
  const files = sight === 'facts' ? [] : [canary(visibility, 'file')];
  for (const word of [...hidden, ...files].filter((word) => !sent.includes(word)))
    expect(text, place).not.toContain(word);
  for (const word of [...hidden, ...files].filter((word) => sent.includes(word)))
    expect(text.includes(`${word} text`), place).toBe(false);
  if (sight === 'facts' && route === 'searchSessions' && isOfContent(ask)) {
    const found = JSON.parse(reply.text).sessions.map(({ session }: { session: Session }) => session.sessionId);
    // The session is not found by words that it lacks either, because that would reveal something.
    expect(found, place).not.toContain(sessionId);
  }
  if (sight !== 'nothing') return;
  if (!NAMES_IDS.includes(route) && !sent.includes(sessionId)) expect(text, place).not.toContain(sessionId);
  const isOfIt = TABLE[route].path.includes('{sessionId}') && ask.params?.sessionId === sessionId;
  if (isOfIt) expect([401, 403, 404], place).toContain(reply.status);
}

/** The text with the decoded content of cursors and other encoded texts. */
const withDecoded = (text: string): string =>
  [text, ...[...text.matchAll(/[A-Za-z0-9_-]{16,}/g)].map(([part]) => Buffer.from(part, 'base64url').toString())].join(
    '\n',
  );

/** Captures a session of the member with a word in each place, and a session of another machine that continues it. */
async function createTarget(world: World, engine: TestEngine, visibility: Visibility): Promise<Target> {
  const { service, ours } = world;
  const word = (place: Parameters<typeof canary>[1]) => `${canary(visibility, place)} text`;
  const mine = await registerMachine(service, machineSecret, 'laptop of the member');
  const theirs = await registerMachine(service, otherSecret, 'another machine');
  const capture = async (as: string, session: object): Promise<string> => {
    const reply = await service.call('POST', '/v1/captured-sessions', { as, body: { sessions: [session] } });
    expect(reply.status, reply.text).toBe(200);
    return reply.body.results[0].session.sessionId;
  };
  const append = (as: string, sessionId: string, events: object[]) =>
    service.call('POST', `/v1/sessions/${sessionId}/events`, { as, body: { events } });
  const clientKey = `key-of-the-${visibility}-session`;
  const title = word('title');
  const sessionId = await capture(machineSecret, { ...openingOn(mine, visibility), clientKey, title });
  const file_path = `/home/kim/src/${canary(visibility, 'file')}.ts`;
  const events = [
    asked(word('prompt')),
    said(word('content')),
    called('Bash', { command: `${canary(visibility, 'command')} --run` }, 'one'),
    answered(word('output'), { callId: 'one' }),
    called('Edit', { file_path, old_string: 'a', new_string: word('diff') }, 'two'),
    answered('done', { callId: 'two' }),
    called('Bash', { command: `git commit -m "${word('commit')}"` }, 'three'),
    answered(`[main a1b2c3d] ${word('commit')}\n 1 file changed`, { callId: 'three' }),
  ];
  expect((await append(machineSecret, sessionId, events)).status).toBe(engine === 'bus' ? 202 : 200);
  const next = { ...openingOn(theirs), clientKey: `what-continues-the-${visibility}`, continues: clientKey };
  const nextId = await capture(otherSecret, next);
  await append(otherSecret, nextId, [said('nothing of it')]);
  await whenDerived(service, ours.member, sessionId, events.length);
  await whenDerived(service, ours.member, nextId, 1);
  const shareTokens = [
    await shareTarget(world, sessionId, ours.member, 'figures'),
    await shareTarget(world, sessionId, colleague, 'full', visibility),
  ];
  return { visibility, sessionId, ...mine, clientKey, nextId, shareTokens };
}

/** The token of a share with the organization. @param hiddenTo the session's visibility after another person shared it */
async function shareTarget(world: World, sessionId: string, as: string, level: string, hiddenTo?: Visibility) {
  const { service, ours } = world;
  const url = `/v1/organizations/me/sessions/${sessionId}`;
  const change = (visibility: Visibility) =>
    service.call('PUT', `${url}/visibility`, { as: ours.member, body: { visibility } });
  if (hiddenTo) await change('team');
  const expiresAt = new Date(service.clock.now + 86_400_000).toISOString();
  const body = { audience: 'organization', level, expiresAt };
  const reply = await service.call('POST', `${url}/shares`, { as, body });
  expect(reply.status, reply.text).toBe(201);
  if (hiddenTo) await change(hiddenTo);
  return reply.body.token as string;
}
