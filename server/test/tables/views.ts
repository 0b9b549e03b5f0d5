import { expect } from 'vitest';
import type { Ask } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

const SEARCH = { q: 'tests:red', secretEnvironment: 'all', order: 'cost', direction: 'asc' };
const LONGEST = 1_000;

/** The names of the views that this person sees. */
async function namesFor({ service }: World, as: string): Promise<string[]> {
  const { body } = await service.call('GET', '/v1/organizations/me/views', { as });
  return body.views.map(({ name }: { name: string }) => name).sort();
}

/** Saves a view of the member for one row. */
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
  ['a name with a bidirectional override', { name: 'red \u202e', search: {} }],
  ['no search', { name: 'red' }],
  ['a query that is too long for a search', { name: 'red', search: { q: 'q'.repeat(LONGEST + 1) } }],
  ['an unknown order', { name: 'red', search: { order: 'luck' } }],
  ['an unknown plane', { name: 'red', search: { secretEnvironment: 'stage' } }],
  ['a flag that is no boolean', { name: 'red', search: {}, isShared: 'all' }],
];

const NEITHER_SEES: [name: string, ask: (world: World) => Ask | Promise<Ask>][] = [
  ['an unknown view', () => ({ params: { viewId: 'viw_none' } })],
  ['a view of another organization', ({ theirs }) => ({ params: { viewId: theirs.sharedViewId } })],
];

const onOne = (route: 'changeView' | 'deleteView'): readonly Scenario[] => [
  ...NEITHER_SEES.map(([name, ask]): Scenario => ({ route, name, ask, status: 404 })),
  {
    route,
    name: "a member's unshared view is hidden from admins",
    as: ({ ours }) => ours.owner,
    ask: saved(false),
    status: 404,
  },
  {
    route,
    name: 'another member may not change or delete a shared view',
    as: ({ service }) => invite(service),
    ask: saved(true),
    status: 403,
    code: 'insufficient_role',
  },
  {
    route,
    name: "an admin may change and delete a member's shared view",
    as: ({ ours }) => ours.admin,
    ask: saved(true),
    status: 200,
  },
];

/** Signs in the person whom our organization invited. @returns their token */
async function invite(service: World['service']): Promise<string> {
  const email = 'ours-invited@example.com';
  const as = await service.identity.token({ subject: 'ours-invited', email });
  expect((await service.call('GET', '/v1/me', { as })).body.role).toBe('member');
  return as;
}

export const VIEWS: readonly Scenario[] = [
  {
    route: 'listViews',
    name: "the list has the member's own views and the shared ones",
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
    name: 'an owner does not see the unshared views of a member',
    as: ({ ours }) => ours.owner,
    status: 200,
    body: ({ ours }) => ({ views: [{ viewId: ours.sharedViewId }] }),
    without: ({ ours }) => [ours.viewId],
  },
  {
    route: 'saveView',
    name: 'an unshared view is visible to nobody else',
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
    name: 'a shared view is visible to all members and nobody else',
    ask: { body: { name: 'for all', search: { q: 'q'.repeat(LONGEST) }, isShared: true } },
    status: 201,
    async after(world) {
      expect(await namesFor(world, world.ours.owner)).toContain('for all');
      expect(await namesFor(world, world.theirs.owner)).not.toContain('for all');
    },
  },
  {
    route: 'saveView',
    name: 'fields that no search has are dropped',
    ask: { body: { name: 'newer', search: { q: 'a', columns: 'x'.repeat(50_000) } } },
    status: 201,
    after: (_, { body }) => expect(body.view.search).toEqual({ q: 'a' }),
  },
  ...WRONG.map(
    ([name, body]): Scenario => ({ route: 'saveView', name, ask: { body }, status: 400, code: 'validation_failed' }),
  ),
  {
    route: 'changeView',
    name: 'fields that are left out stay',
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
    name: 'its maker shares a view and unshares it again',
    ask: saved(true, { isShared: false }),
    status: 200,
    body: () => ({ view: { isShared: false } }),
  },
  {
    route: 'changeView',
    name: "an admin may not unshare a member's view",
    as: ({ ours }) => ours.owner,
    ask: saved(true, { isShared: false }),
    status: 403,
    code: 'insufficient_role',
  },
  { route: 'changeView', name: 'a name of 61 characters', ask: { body: { name: 'n'.repeat(61) } }, status: 400 },
  ...onOne('changeView'),
  {
    route: 'deleteView',
    name: 'a deleted view is visible to nobody',
    ask: saved(true),
    status: 200,
    async after(world, _, { params }) {
      const { body } = await world.service.call('GET', '/v1/organizations/me/views', { as: world.ours.owner });
      expect(body.views.map(({ viewId }: { viewId: string }) => viewId)).not.toContain(params?.viewId);
    },
  },
  ...onOne('deleteView'),
];
