import { expect } from 'vitest';
import type { Scenario } from '../scenarios.ts';
import { openSigned } from '../signed-in.ts';
import type { World } from '../world.ts';

const DAY_MS = 86_400_000;
const soon = ({ service }: World, days = 1) => new Date(service.clock.now + days * DAY_MS).toISOString();

const share = (world: World, as: string, sessionId: string, body: object) =>
  world.service.call('POST', `/v1/organizations/me/sessions/${sessionId}/shares`, {
    as,
    body: { audience: 'organization', level: 'full', expiresAt: soon(world), ...body },
  });

/** The token of the share of the session that everybody may see. */
const tokenOf = async (world: World, body: object = {}): Promise<string> =>
  (await share(world, world.ours.owner, world.ours.sessionId, body)).body.token;

const setPolicy = ({ service, ours }: World, body: object) =>
  service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body });

const creating = (world: World, body: object, sessionId = world.ours.sessionId) => ({
  params: { sessionId },
  body: { audience: 'organization', level: 'full', expiresAt: soon(world), ...body },
});

const REFUSED: readonly [string, (world: World) => object, RegExp][] = [
  ['an end in the past', (world) => ({ expiresAt: soon(world, -1) }), /at most 90 days/],
  ['an end later than the policy allows', (world) => ({ expiresAt: soon(world, 91) }), /at most 90 days/],
  ['a share with one person that names nobody', () => ({ audience: 'person' }), /names a member/],
  ['a share with everybody that names a person', ({ ours }) => ({ userId: ours.memberId }), /names a member/],
  [
    'a person of another organization',
    ({ theirs }) => ({ audience: 'person', userId: theirs.memberId }),
    /names no member/,
  ],
  ['an invited person', ({ ours }) => ({ audience: 'person', userId: ours.userId }), /names no member/],
  ['a range for figures', () => ({ level: 'figures', from: 1 }), /whole session/],
  ['a range that ends before it begins', () => ({ from: 2, to: 1 }), /must be a range of the 2 events/],
  ['a range that ends behind the last event', () => ({ to: 3 }), /must be a range of the 2 events/],
];

export const SHARES: readonly Scenario[] = [
  {
    route: 'createShare',
    name: 'a share of a range with the organization shows its token once',
    ask: (world) => creating(world, { from: 1, to: 1 }),
    status: 201,
    async after({ service, ours }, { body }) {
      expect(body.share).toMatchObject({ by: ours.memberId, from: 1, to: 1, views: 0 });
      expect(body.token).toMatch(/^[0-9A-Za-z]{43}$/);
      expect(new URL(body.url).pathname).toBe(`/s/${body.token}`);
      const stored = await service.store.db.selectFrom('shares').selectAll().execute();
      expect(JSON.stringify(stored)).not.toContain(body.token);
      const { entries } = (await service.call('GET', '/v1/organizations/me/audit', { as: ours.owner })).body;
      expect(entries[0]).toMatchObject({ action: 'share.created', details: { share: body.share.shareId } });
      expect(JSON.stringify(entries)).not.toContain(body.token);
    },
  },
  {
    route: 'createShare',
    name: 'a member shares their own private session with another member',
    async ask(world) {
      const sessionId = await openSigned(world, world.ours.member, 'private');
      return creating(world, { audience: 'person', userId: world.ours.ownerId }, sessionId);
    },
    status: 201,
  },
  ...REFUSED.map(
    ([name, body, says]): Scenario => ({
      route: 'createShare',
      name,
      ask: (world) => creating(world, body(world)),
      status: 400,
      code: 'validation_failed',
      says,
    }),
  ),
  {
    route: 'createShare',
    name: 'a link is refused unless an owner has allowed links',
    ask: (world) => creating(world, { audience: 'link' }),
    status: 403,
    code: 'sharing_refused',
    says: /ask an owner/,
  },
  {
    route: 'createShare',
    name: 'the content of a session may be shared only by its person',
    as: ({ ours }) => ours.owner,
    ask: async (world) => creating(world, {}, await openSigned(world, world.ours.member, 'facts')),
    status: 403,
    code: 'sharing_refused',
    says: /Only the person/,
  },
  {
    route: 'createShare',
    name: 'an owner may share the figures of a session that shows them facts alone',
    as: ({ ours }) => ours.owner,
    ask: async (world) => creating(world, { level: 'figures' }, await openSigned(world, world.ours.member, 'facts')),
    status: 201,
  },
  {
    route: 'createShare',
    name: 'a private session of another person',
    as: ({ ours }) => ours.owner,
    ask: async (world) => creating(world, {}, await openSigned(world, world.ours.member, 'private')),
    status: 404,
  },
  {
    route: 'createShare',
    name: 'a session of another organization',
    ask: (world) => creating(world, {}, world.theirs.sessionId),
    status: 404,
  },
  {
    route: 'listShares',
    name: 'an admin sees all shares, without tokens',
    as: ({ ours }) => ours.admin,
    ask: ({ ours }) => ({ params: { sessionId: ours.closedSessionId } }),
    status: 200,
    after({ ours }, { body, text }) {
      const ids = body.shares.map(({ shareId }: { shareId: string }) => shareId);
      expect(ids).toContain(ours.spareShareId);
      expect(ids.toSorted().reverse()).toEqual(ids);
      expect(text).not.toContain(ours.shareToken);
    },
  },
  {
    route: 'listShares',
    name: 'a member sees only their own shares',
    status: 200,
    after({ ours }, { body }) {
      expect(body.shares.length).toBeGreaterThan(0);
      for (const { by } of body.shares) expect(by).toBe(ours.memberId);
    },
  },
  {
    route: 'listShares',
    name: 'a session of another organization',
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
  },
  {
    route: 'revokeShare',
    name: 'the maker revokes the share, and the audit log records it',
    as: ({ ours }) => ours.owner,
    status: 204,
    async after({ service, ours }) {
      const { entries } = (await service.call('GET', '/v1/organizations/me/audit', { as: ours.owner })).body;
      expect(entries[0]).toMatchObject({ action: 'share.revoked', details: { share: ours.spareShareId } });
    },
  },
  {
    route: 'revokeShare',
    name: 'a repeated revocation changes nothing',
    as: ({ ours }) => ours.admin,
    status: 204,
  },
  { route: 'revokeShare', name: 'another member than the maker', as: ({ ours }) => ours.member, status: 404 },
  {
    route: 'revokeShare',
    name: 'a share of another organization',
    as: ({ ours }) => ours.owner,
    ask: ({ theirs }) => ({ params: { sessionId: theirs.closedSessionId, shareId: theirs.spareShareId } }),
    status: 404,
  },
  {
    route: 'getShare',
    name: 'a member sees the share without anything that names the organization',
    ask: async (world) => ({ params: { token: await tokenOf(world) } }),
    status: 200,
    body: () => ({ level: 'full', agentId: 'codex', eventCount: 2, figures: { failures: 0 } }),
    without: ({ ours }) => [ours.organizationId, ours.sessionId, ours.ownerId],
    after(_, { headers }) {
      expect(headers['x-robots-tag']).toBe('noindex, nofollow');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['cache-control']).toBe('no-store');
    },
  },
  {
    route: 'getShare',
    name: 'anybody with the link sees the share if an owner allows links',
    as: () => undefined,
    async ask(world) {
      await setPolicy(world, { linkSharing: 'on' });
      return { params: { token: await tokenOf(world, { audience: 'link' }) } };
    },
    status: 200,
  },
  {
    route: 'getShare',
    name: 'a link ends when an owner turns links off',
    as: () => undefined,
    async ask(world) {
      await setPolicy(world, { linkSharing: 'on' });
      const token = await tokenOf(world, { audience: 'link' });
      await setPolicy(world, {});
      return { params: { token } };
    },
    status: 410,
    code: 'share_ended',
  },
  {
    route: 'getShare',
    name: 'a share with members needs a sign-in',
    as: () => undefined,
    status: 401,
    code: 'token_missing',
  },
  {
    route: 'getShare',
    name: 'another member than the named one',
    ask: async (world) => ({
      params: { token: await tokenOf(world, { audience: 'person', userId: world.ours.ownerId }) },
    }),
    status: 404,
  },
  { route: 'getShare', name: 'an unknown token', ask: { params: { token: 'x'.repeat(43) } }, status: 404 },
  {
    route: 'listSharedEvents',
    name: 'the answer has only the events of the range',
    ask: async (world) => ({ params: { token: await tokenOf(world, { from: 2, to: 2 }) } }),
    status: 200,
    after(_, { body }) {
      expect(body.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([2]);
      expect(body.nextCursor).toBeNull();
    },
  },
  {
    route: 'listSharedEvents',
    name: 'a limit that is no number',
    ask: ({ ours }) => ({ params: { token: ours.shareToken }, query: { limit: 0 } }),
    status: 400,
  },
  {
    route: 'listSharedEvents',
    name: 'a share of figures has no events',
    ask: async (world) => ({ params: { token: await tokenOf(world, { level: 'figures' }) } }),
    status: 403,
    code: 'content_withheld',
  },
  { route: 'listSharedEvents', name: 'an unknown token', ask: { params: { token: 'unknown' } }, status: 404 },
  {
    route: 'listSharedEvents',
    name: 'a revoked share',
    async ask(world) {
      const { body } = await share(world, world.ours.owner, world.ours.sessionId, {});
      const url = `/v1/organizations/me/sessions/${world.ours.sessionId}/shares/${body.share.shareId}`;
      await world.service.call('DELETE', url, { as: world.ours.owner });
      return { params: { token: body.token } };
    },
    status: 410,
    code: 'share_ended',
  },
];
