import { expect } from 'vitest';
import type { Scenario } from '../scenarios.ts';
import { openSigned } from '../signed-in.ts';

const OF_NOBODY = { route: 'changeVisibility', as: ({ ours }) => ours.admin } satisfies Partial<Scenario>;

export const VISIBILITY: readonly Scenario[] = [
  {
    ...OF_NOBODY,
    name: 'an admin, of a session that is nobody’s',
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
    name: 'the same again, which is nothing to note',
    ask: { body: { visibility: 'facts' } },
    status: 200,
    async after({ service, ours }) {
      const url = '/v1/organizations/me/audit?action=session.visibility_changed';
      expect((await service.call('GET', url, { as: ours.admin })).body.entries).toHaveLength(1);
    },
  },
  {
    route: 'changeVisibility',
    name: 'its person, back and forth',
    as: ({ ours }) => ours.member,
    async ask(world) {
      const sessionId = await openSigned(world, world.ours.member, 'private');
      return { params: { sessionId }, body: { visibility: 'team' } };
    },
    status: 200,
    body: () => ({ visibility: 'team' }),
    async after({ service, ours }, _, { params }) {
      const url = `/v1/organizations/me/sessions/${params?.['sessionId']}`;
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
    name: 'of another person’s session, which the caller may know of',
    ask: async (world) => ({ params: { sessionId: await openSigned(world, world.ours.member, 'facts') } }),
    status: 403,
    code: 'insufficient_role',
    says: /^Only the person of this session /,
  },
  {
    ...OF_NOBODY,
    name: 'of another person’s session, which does not exist for the caller',
    ask: async (world) => ({ params: { sessionId: await openSigned(world, world.ours.member, 'private') } }),
    status: 404,
    code: 'not_found',
  },
  { ...OF_NOBODY, name: 'of no session', ask: { params: { sessionId: 'ses_none' } }, status: 404, code: 'not_found' },
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
