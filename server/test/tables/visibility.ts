import { expect } from 'vitest';
import type { Scenario } from '../scenarios.ts';
import { openSigned } from '../signed-in.ts';

const OF_NOBODY = { route: 'changeVisibility', as: ({ ours }) => ours.admin } satisfies Partial<Scenario>;

export const VISIBILITY: readonly Scenario[] = [
  {
    ...OF_NOBODY,
    name: 'an admin changes the visibility of a session without a person',
    ask: { body: { visibility: 'facts' } },
    status: 200,
    body: () => ({ visibility: 'facts' }),
    async after({ service, ours }) {
      const url = `/v1/organizations/me/sessions/${ours.sessionId}`;
      const shown = async (as: string) => (await service.call('GET', url, { as })).body.session;
      expect(await shown(ours.admin)).toMatchObject({ visibility: 'facts', mayChangeVisibility: true });
      const toOthers = await shown(ours.member);
      expect([toOthers.visibility, toOthers.mayChangeVisibility]).toEqual(['facts', undefined]);
      const { entries } = (await service.call('GET', '/v1/organizations/me/audit?limit=1', { as: ours.admin })).body;
      expect(entries).toMatchObject([
        {
          action: 'session.visibility_changed',
          target: { kind: 'session', id: ours.sessionId },
          details: { from: 'team', to: 'facts' },
        },
      ]);
    },
  },
  {
    ...OF_NOBODY,
    name: 'repeating the same visibility writes no audit entry',
    ask: { body: { visibility: 'facts' } },
    status: 200,
    async after({ service, ours }) {
      const url = '/v1/organizations/me/audit?action=session.visibility_changed';
      expect((await service.call('GET', url, { as: ours.admin })).body.entries).toHaveLength(1);
    },
  },
  {
    route: 'changeVisibility',
    name: "the session's person hides it and shows it again",
    as: ({ ours }) => ours.member,
    async ask(world) {
      const sessionId = await openSigned(world, world.ours.member, 'private');
      return { params: { sessionId }, body: { visibility: 'team' } };
    },
    status: 200,
    body: () => ({ visibility: 'team' }),
    async after({ service, ours }, _, { params }) {
      const url = `/v1/organizations/me/sessions/${params?.sessionId}`;
      const seen = async () => (await service.call('GET', url, { as: ours.admin })).status;
      expect(await seen()).toBe(200);
      const { session } = (await service.call('GET', url, { as: ours.admin })).body;
      expect(session).not.toHaveProperty('mayChangeVisibility');
      const own = (await service.call('GET', url, { as: ours.member })).body.session;
      expect(own).toMatchObject({ mayChangeVisibility: true });
      await service.call('PUT', `${url}/visibility`, { as: ours.member, body: { visibility: 'private' } });
      expect(await seen()).toBe(404);
    },
  },
  {
    ...OF_NOBODY,
    name: 'a visible session of another person may not be changed',
    ask: async (world) => ({ params: { sessionId: await openSigned(world, world.ours.member, 'facts') } }),
    status: 403,
    code: 'insufficient_role',
    says: /^Only the person of this session /,
  },
  {
    ...OF_NOBODY,
    name: 'a hidden session of another person looks like an unknown one',
    ask: async (world) => ({ params: { sessionId: await openSigned(world, world.ours.member, 'private') } }),
    status: 404,
    code: 'not_found',
  },
  {
    ...OF_NOBODY,
    name: 'an unknown session',
    ask: { params: { sessionId: 'ses_none' } },
    status: 404,
    code: 'not_found',
  },
  ...[{}, { visibility: 'public' }, { visibility: null }].map(
    (body): Scenario => ({
      ...OF_NOBODY,
      name: JSON.stringify(body),
      ask: { body },
      status: 400,
      code: 'validation_failed',
      says: /^\/visibility /,
    }),
  ),
];
