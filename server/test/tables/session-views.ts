import { expect } from 'vitest';
import { event, issueSecret } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';
import { openSigned } from '../signed-in.ts';
import type { World } from '../world.ts';

const of = async (world: World, visibility: 'team' | 'private') => ({
  params: { sessionId: await openSigned(world, world.ours.member, visibility) },
});

export const SESSION_VIEWS: readonly Scenario[] = [
  {
    route: 'listSessionViews',
    name: 'its person sees who else opened and exported the session, without their own views',
    as: ({ ours }) => ours.member,
    async ask(world) {
      const asked = await of(world, 'team');
      const { service, ours } = world;
      const url = `/v1/organizations/me/sessions/${asked.params.sessionId}`;
      for (const path of ['index', 'window', 'events']) {
        await service.call('GET', `${url}/${path}`, { as: ours.owner, headers: { 'user-agent': 'Mozilla/5.0' } });
        await service.call('GET', `${url}/${path}`, { as: ours.member });
      }
      await service.call('GET', `${url}/index`, { as: ours.owner, headers: { 'user-agent': 'Mozilla/5.0' } });
      return asked;
    },
    status: 200,
    after({ ours }, { body }) {
      const by = { userId: ours.ownerId, surface: 'dashboard', network: '127.0.0.0/24' };
      expect(body.isRecorded).toBe(true);
      expect(body.views).toHaveLength(2);
      expect(body.views).toContainEqual(expect.objectContaining({ ...by, kind: 'opened', count: 2 }));
      expect(body.views).toContainEqual(expect.objectContaining({ ...by, kind: 'exported', count: 1 }));
    },
  },
  {
    route: 'listSessionViews',
    name: 'an admin sees the views of a session without a person',
    as: ({ ours }) => ours.admin,
    status: 200,
  },
  {
    route: 'listSessionViews',
    name: 'an owner may not see the views of another person’s session',
    as: ({ ours }) => ours.owner,
    ask: (world) => of(world, 'team'),
    status: 403,
    code: 'insufficient_role',
  },
  {
    route: 'listSessionViews',
    name: 'another person’s hidden session looks like an unknown one to an owner',
    as: ({ ours }) => ours.owner,
    ask: (world) => of(world, 'private'),
    status: 404,
  },
  {
    route: 'listSessionViews',
    name: 'a session of another organization',
    as: ({ ours }) => ours.owner,
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
  },
  {
    route: 'listSessionSenders',
    name: 'a session that only its own machine sent has no other senders',
    as: ({ ours }) => ours.member,
    status: 200,
    body: () => ({ senders: [] }),
  },
  {
    route: 'listSessionSenders',
    name: 'another secret that sent to the session is shown with its machine and its events',
    as: ({ ours }) => ours.member,
    async ask({ service, ours }) {
      const other = await issueSecret(service, ours.owner, 'live');
      const url = `/v1/sessions/${ours.sessionId}/events`;
      await service.call('POST', url, { as: other, body: { events: [event('sent by another secret')] } });
      return {};
    },
    status: 200,
    after(_, { body }) {
      expect(body.senders).toEqual([
        {
          secretId: expect.stringMatching(/^sec_/),
          events: 1,
          firstSequence: expect.any(Number),
          lastSequence: expect.any(Number),
          lastAt: expect.any(String),
        },
      ]);
    },
  },
  {
    route: 'listSessionSenders',
    name: 'another person’s hidden session looks like an unknown one',
    as: ({ ours }) => ours.owner,
    ask: (world) => of(world, 'private'),
    status: 404,
  },
  {
    route: 'listSessionSenders',
    name: 'a session of another organization',
    as: ({ ours }) => ours.owner,
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
  },
];
