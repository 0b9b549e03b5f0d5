import { expect } from 'vitest';
import type { Ask } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import { openSigned } from '../signed-in.ts';
import type { World } from '../world.ts';

const HOLDS_PATH = '/v1/organizations/me/holds';

/** Places a hold. @returns its id */
async function place({ service, ours }: World, target: object): Promise<string> {
  const reply = await service.call('POST', HOLDS_PATH, { as: ours.admin, body: { target, reason: 'a lawsuit' } });
  return reply.body.hold.holdId;
}

const onSession = ({ ours }: World, reason: unknown = 'a lawsuit'): Ask => ({
  body: { target: { kind: 'session', id: ours.sessionId }, reason },
});

const WRONG: [name: string, body: object][] = [
  ['no target', { reason: 'a lawsuit' }],
  ['an unknown kind', { target: { kind: 'planet' }, reason: 'a lawsuit' }],
  ['a session without an id', { target: { kind: 'session' }, reason: 'a lawsuit' }],
  ['everything with an id', { target: { kind: 'everything', id: 'ses_1' }, reason: 'a lawsuit' }],
  ['no reason', { target: { kind: 'everything' } }],
  ['a reason of spaces', { target: { kind: 'everything' }, reason: '  ' }],
];

const UNKNOWN: [name: string, ask: (world: World) => Ask][] = [
  ['an unknown session', () => ({ body: { target: { kind: 'session', id: 'ses_none' }, reason: 'x' } })],
  [
    'a session of another organization',
    ({ theirs }) => ({ body: { target: { kind: 'session', id: theirs.sessionId }, reason: 'x' } }),
  ],
  [
    'a member of another organization',
    ({ theirs }) => ({ body: { target: { kind: 'person', id: theirs.memberId }, reason: 'x' } }),
  ],
  [
    'a repository without sessions',
    () => ({ body: { target: { kind: 'repository', id: 'o/misspelt' }, reason: 'x' } }),
  ],
];

export const HOLDS: readonly Scenario[] = [
  {
    route: 'placeHold',
    name: 'a held session cannot be deleted until the hold is released',
    ask: (world) => onSession(world),
    status: 201,
    body: ({ ours }) => ({
      hold: { target: { kind: 'session', id: ours.sessionId }, reason: 'a lawsuit', placedBy: expect.any(String) },
    }),
    async after({ service, ours }, { body }) {
      const { holdId } = body.hold;
      const path = `/v1/organizations/me/sessions/${ours.sessionId}`;
      const refused = await service.call('DELETE', path, { as: ours.owner });
      expect(refused).toMatchObject({ status: 409, body: { code: 'held' } });
      expect(refused.body.error).toContain(holdId);
      const { entries } = (await service.call('GET', '/v1/organizations/me/audit?limit=2', { as: ours.owner })).body;
      expect(entries).toMatchObject([
        { action: 'session.deletion_refused', target: { id: ours.sessionId }, details: { hold: holdId } },
        { action: 'hold.placed', target: { kind: 'hold', id: holdId }, details: { on: 'session', id: ours.sessionId } },
      ]);
      const events = (await service.call('GET', '/v1/organizations/me/audit/events', { as: ours.owner })).body;
      expect(events.slice(-2)).toMatchObject([
        { metadata: { event_code: 'hold.placed' }, status_id: 1 },
        { metadata: { event_code: 'session.deletion_refused' }, status_id: 2 },
      ]);
      await service.call('DELETE', `${HOLDS_PATH}/${holdId}`, { as: ours.admin });
    },
  },
  ...WRONG.map(([name, body]): Scenario => ({ route: 'placeHold', name, ask: { body }, status: 400 })),
  ...UNKNOWN.map(([name, ask]): Scenario => ({ route: 'placeHold', name, ask, status: 404, code: 'not_found' })),
  {
    route: 'placeHold',
    name: 'a session that is hidden from the admin gets the answer of an unknown session',
    ask: async (world) => {
      const id = await openSigned(world, world.ours.member, 'private');
      return { body: { target: { kind: 'session', id }, reason: 'a lawsuit' } };
    },
    status: 404,
    code: 'not_found',
  },
  {
    route: 'listHolds',
    name: 'holds in force and released holds are both listed',
    status: 200,
    async ask(world) {
      await world.service.call('DELETE', `${HOLDS_PATH}/${await place(world, { kind: 'everything' })}`, {
        as: world.ours.admin,
      });
      return {};
    },
    async after({ ours, theirs }, { text, body }) {
      expect(text).not.toContain(theirs.releasedHoldId);
      const released = body.holds.find(({ holdId }: { holdId: string }) => holdId === ours.releasedHoldId);
      expect(released).toMatchObject({
        target: { kind: 'everything' },
        releasedBy: ours.ownerId,
        releasedAt: expect.any(String),
      });
    },
  },
  {
    route: 'releaseHold',
    name: 'the held session may be deleted afterwards',
    async ask(world) {
      return { params: { holdId: await place(world, { kind: 'session', id: world.ours.closedSessionId }) } };
    },
    status: 200,
    async after({ service, ours }, { body }) {
      expect(body.hold.releasedAt).toBeDefined();
      const { entries } = (await service.call('GET', '/v1/organizations/me/audit?limit=1', { as: ours.owner })).body;
      expect(entries).toMatchObject([{ action: 'hold.released', target: { id: body.hold.holdId } }]);
    },
  },
  {
    route: 'releaseHold',
    name: 'a repeated release changes nothing',
    ask: ({ ours }) => ({ params: { holdId: ours.releasedHoldId } }),
    status: 200,
    body: ({ ours }) => ({ hold: { holdId: ours.releasedHoldId, releasedBy: ours.ownerId } }),
  },
  {
    route: 'releaseHold',
    name: 'a hold of another organization',
    ask: ({ theirs }) => ({ params: { holdId: theirs.releasedHoldId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'deleteSession',
    name: 'a session in a held repository',
    async ask(world) {
      const { service, ours } = world;
      const body = {
        environmentId: ours.environmentId,
        agentInstallationId: ours.installationId,
        startedAt: '2026-01-01T00:00:00.000Z',
        repoRemote: 'git@h.test:held/one.git',
      };
      const { sessionId } = (await service.call('POST', '/v1/past-sessions', { as: ours.live, body })).body;
      await place(world, { kind: 'repository', id: 'h.test/held/one' });
      return { params: { sessionId } };
    },
    status: 409,
    code: 'held',
  },
  {
    route: 'deleteCapturedSession',
    name: 'a held session',
    async ask(world) {
      const { service, ours } = world;
      const clientKey = 'h'.repeat(43);
      const place_ = { environmentId: ours.environmentId, agentInstallationId: ours.installationId };
      const given = { as: ours.live, body: { sessions: [{ clientKey, ...place_ }] } };
      const { results } = (await service.call('POST', '/v1/captured-sessions', given)).body;
      await place(world, { kind: 'session', id: results[0].session.sessionId });
      return { params: { clientKey } };
    },
    status: 409,
    code: 'held',
    says: /owner or admin to release/,
  },
  {
    route: 'deleteOrganization',
    name: 'an organization with a hold',
    as: ({ ours }) => ours.owner,
    async ask(world) {
      const { service, ours } = world;
      await place(world, { kind: 'everything' });
      const { name } = (await service.call('GET', '/v1/organizations/me', { as: ours.owner })).body;
      return { body: { name } };
    },
    status: 409,
    code: 'held',
    async after({ service, ours }) {
      expect((await service.call('GET', '/v1/organizations/me', { as: ours.owner })).status).toBe(200);
    },
  },
];
