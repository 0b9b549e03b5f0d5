import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LiveChange } from '../../contract/extensions.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { expectShape } from './shape.ts';
import { startWorld, type World } from './world.ts';

describe.each(ENGINES)('the live stream on %s', (engine) => {
  let world: World;
  let port: number;
  beforeAll(async () => {
    world = await startWorld(engine);
    port = Number(new URL(await world.service.app.listen({ port: 0 })).port);
  });
  afterAll(() => world.service.close());

  async function watch(as: string, query = '') {
    const headers = { authorization: `Bearer ${as}` };
    const asked: ClientRequest = get({ port, path: `/v1/organizations/me/live${query}`, headers });
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    let text = '';
    reply.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await expect.poll(() => text).toContain(': connected');
    // The message that is sent again after the figures are derived has the same content.
    const messages = () =>
      [...new Set([...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => String(data)))].map((data) =>
        JSON.parse(data),
      );
    return { reply, messages, stop: () => asked.destroy() };
  }

  async function runSession() {
    const { service, ours } = world;
    const sessionId = await openSession(service, ours.live);
    const append = { as: ours.live, body: { events: [{ eventType: 'notice' }] } };
    await service.call('POST', `/v1/sessions/${sessionId}/events`, append);
    await service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: ours.live });
    return sessionId;
  }

  test('announces each change, and only to the organization in which it happened', async () => {
    const mine = await watch(world.ours.member);
    const foreign = await watch(world.theirs.member);
    expect(mine.reply.headers['content-type']).toBe('text/event-stream');
    const sessionId = await runSession();
    const ofIt = () => mine.messages().filter((message) => message.sessionId === sessionId);
    await expect.poll(ofIt).toEqual([
      { sessionId, eventCount: 0, status: 'active' },
      { sessionId, eventCount: 1, status: 'active' },
      { sessionId, eventCount: 1, status: 'completed' },
    ]);
    for (const message of mine.messages()) expectShape(LiveChange, message);
    // The others hear of their own sessions, which are being derived.
    const told = new Set(mine.messages().map((message) => message.sessionId));
    expect(foreign.messages().filter((message) => told.has(message.sessionId))).toEqual([]);
    mine.stop();
    foreign.stop();
  });

  test('can be limited to one session', async () => {
    const { ours } = world;
    const stream = await watch(ours.member, `?sessionId=${ours.sessionId}`);
    await runSession();
    const append = { as: ours.live, body: { events: [{ eventType: 'notice' }] } };
    await world.service.call('POST', `/v1/sessions/${ours.sessionId}/events`, append);
    await expect
      .poll(() => stream.messages().at(-1))
      .toEqual({ sessionId: ours.sessionId, eventCount: 3, status: 'active' });
    expect(new Set(stream.messages().map(({ sessionId }) => sessionId))).toEqual(new Set([ours.sessionId]));
    stream.stop();
  });

  const leave = async (person: string) => world.service.call('DELETE', '/v1/me/membership', { as: person });
  const remove = async (_: string, userId: string) =>
    world.service.call('DELETE', `/v1/organizations/me/members/${userId}`, { as: world.ours.owner });
  const deactivate = async (_person: string, _userId: string, email: string) => {
    const as = world.ours.directoryToken;
    const filter = encodeURIComponent(`userName eq "${email}"`);
    const { id } = (await world.service.call('GET', `/scim/v2/Users?filter=${filter}`, { as })).body.Resources[0];
    const body = { Operations: [{ op: 'replace', path: 'active', value: false }] };
    return world.service.call('PATCH', `/scim/v2/Users/${id}`, { as, body });
  };
  test.each([
    ['removed', remove],
    ['leaving', leave],
    ['deactivated', deactivate],
  ])('ends at once for a member who is %s, and continues for others', async (how, end) => {
    const { service, ours } = world;
    const email = `live-${how}@example.com`;
    const invite = { as: ours.owner, body: { email } };
    const { userId } = (await service.call('POST', '/v1/organizations/me/members', invite)).body;
    const person = await service.identity.token({ subject: email, email });
    const [theirs, other] = [await watch(person), await watch(ours.member)];
    const ended = once(theirs.reply, 'end');
    expect((await end(person, userId, email)).status).toBe(200);
    await ended;
    const sessionId = await runSession();
    await expect.poll(() => JSON.stringify(other.messages())).toContain(sessionId);
    expect(JSON.stringify(theirs.messages())).not.toContain(sessionId);
    other.stop();
  });

  test('ends when the service closes, and does not delay the close', async () => {
    const { reply } = await watch(world.ours.member);
    const ended = once(reply, 'end');
    await world.service.app.close();
    await ended;
  });
});
