import { expect } from 'vitest';
import type { Ask } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

const SEARCH = { q: 'tests:red', secretEnvironment: 'all', order: 'cost', direction: 'asc' };
const LONGEST = 1_000;

/** The names of the views that somebody sees. */
async function namesFor({ service }: World, as: string): Promise<string[]> {
  const { body } = await service.call('GET', '/v1/organizations/me/views', { as });
  return body.views.map(({ name }: { name: string }) => name).sort();
}

/** A view of its own for a row, saved by the member. */
const saved =
  (isShared: boolean, body?: object) =>
  async ({ service, ours }: World): Promise<Ask> => {
    const given = { name: 'of a row', search: { q: 'flaky' }, isShared };
    const reply = await service.call('POST', '/v1/organizations/me/views', { as: ours.member, body: given });
    return { params: { viewId: reply.body.view.viewId }, ...(body && { body }) };
  };

const WRONG: [name: string, body: object][] = [
  ['no name', { search: {} }],
  ['a name of spaces', { name: '  ', search: {} }],
  ['a name of 61 characters', { name: 'n'.repeat(61), search: {} }],
  ['a name that turns what follows around', { name: 'red \u202e', search: {} }],
  ['no search', { name: 'red' }],
  ['a query that no search takes', { name: 'red', search: { q: 'q'.repeat(LONGEST + 1) } }],
  ['an unknown order', { name: 'red', search: { order: 'luck' } }],
  ['an unknown plane', { name: 'red', search: { secretEnvironment: 'stage' } }],
  ['a word where yes or no is asked', { name: 'red', search: {}, isShared: 'all' }],
];

const NEITHER_SEES: [name: string, ask: (world: World) => Ask | Promise<Ask>][] = [
  ['an unknown one', () => ({ params: { viewId: 'viw_none' } })],
  ["another organization's", ({ theirs }) => ({ params: { viewId: theirs.sharedViewId } })],
];

const onOne = (route: 'changeView' | 'deleteView'): readonly Scenario[] => [
  ...NEITHER_SEES.map(([name, ask]): Scenario => ({ route, name, ask, status: 404 })),
  {
    route,
    name: 'one that a member keeps is hidden from admins too',
    as: ({ ours }) => ours.owner,
    ask: saved(false),
    status: 404,
  },
  {
    route,
    name: "another member's, which is shared",
    as: ({ service }) => invite(service),
    ask: saved(true),
    status: 403,
    code: 'insufficient_role',
  },
  {
    route,
    name: 'one that a member shares is in the hands of admins too',
    as: ({ ours }) => ours.admin,
    ask: saved(true),
    status: 200,
  },
];

/** Signs another member of ours in. */
async function invite(service: World['service']): Promise<string> {
  const email = 'ours-invited@example.com';
  const as = await service.identity.token({ subject: 'ours-invited', email });
  expect((await service.call('GET', '/v1/me', { as })).body.role).toBe('member');
  return as;
}

export const VIEWS: readonly Scenario[] = [
  {
    route: 'listViews',
    name: 'the own ones, and those that others share',
    status: 200,
    body: ({ ours }) => ({
      views: [
        { viewId: ours.viewId, isShared: false, createdBy: ours.memberId, search: { q: 'tests:red' } },
        { viewId: ours.sharedViewId, isShared: true, createdBy: ours.memberId },
      ],
    }),
    without: ({ theirs }) => [theirs.viewId, theirs.sharedViewId],
  },
  {
    route: 'listViews',
    name: 'an owner does not see what a member keeps',
    as: ({ ours }) => ours.owner,
    status: 200,
    body: ({ ours }) => ({ views: [{ viewId: ours.sharedViewId }] }),
    without: ({ ours }) => [ours.viewId],
  },
  {
    route: 'saveView',
    name: 'nobody else sees it',
    ask: { body: { name: 'for me', search: SEARCH } },
    status: 201,
    body: ({ ours }) => ({ view: { name: 'for me', search: SEARCH, isShared: false, createdBy: ours.memberId } }),
    async after(world) {
      expect(await namesFor(world, world.ours.member)).toContain('for me');
      expect(await namesFor(world, world.ours.owner)).not.toContain('for me');
    },
  },
  {
    route: 'saveView',
    name: 'all members see it, and nobody else',
    ask: { body: { name: 'for all', search: { q: 'q'.repeat(LONGEST) }, isShared: true } },
    status: 201,
    async after(world) {
      expect(await namesFor(world, world.ours.owner)).toContain('for all');
      expect(await namesFor(world, world.theirs.owner)).not.toContain('for all');
    },
  },
  {
    route: 'saveView',
    name: 'what a search does not have is not kept',
    ask: { body: { name: 'newer', search: { q: 'a', columns: 'x'.repeat(50_000) } } },
    status: 201,
    after: (_, { body }) => expect(body.view.search).toEqual({ q: 'a' }),
  },
  ...WRONG.map(
    ([name, body]): Scenario => ({ route: 'saveView', name, ask: { body }, status: 400, code: 'validation_failed' }),
  ),
  {
    route: 'changeView',
    name: 'what is left out stays',
    ask: saved(false, { name: 'renamed' }),
    status: 200,
    body: ({ ours }) => ({
      view: { name: 'renamed', search: { q: 'flaky' }, isShared: false, createdBy: ours.memberId },
    }),
  },
  {
    route: 'changeView',
    name: 'the search is replaced as a whole',
    ask: saved(false, { search: { order: 'cost' } }),
    status: 200,
    after: (_, { body }) => expect(body.view.search).toEqual({ order: 'cost' }),
  },
  {
    route: 'changeView',
    name: 'who saved it shares it, and takes it back',
    ask: saved(true, { isShared: false }),
    status: 200,
    body: () => ({ view: { isShared: false } }),
  },
  {
    route: 'changeView',
    name: 'an admin does not take it back for somebody else',
    as: ({ ours }) => ours.owner,
    ask: saved(true, { isShared: false }),
    status: 403,
    code: 'insufficient_role',
  },
  { route: 'changeView', name: 'a name of 61 characters', ask: { body: { name: 'n'.repeat(61) } }, status: 400 },
  ...onOne('changeView'),
  {
    route: 'deleteView',
    name: 'nobody sees it any more',
    ask: saved(true),
    status: 200,
    async after(world, _, { params }) {
      const { body } = await world.service.call('GET', '/v1/organizations/me/views', { as: world.ours.owner });
      expect(body.views.map(({ viewId }: { viewId: string }) => viewId)).not.toContain(params?.viewId);
    },
  },
  ...onOne('deleteView'),
];
