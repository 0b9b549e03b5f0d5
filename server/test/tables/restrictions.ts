import { expect } from 'vitest';
import type { Visibility } from '../../../contract/session.ts';
import { type Machine, registerMachine } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';
import { openingOn, openSigned, signInMachine } from '../signed-in.ts';
import type { World } from '../world.ts';

let counter = 0;

/** Opens a session of the member on a new machine of theirs, and returns it with the machine's secret. */
async function openOwn({ service, ours }: World, visibility: Visibility, as = ours.member) {
  const hostname = `restricted-${++counter}`;
  const secret = await signInMachine(service, as, hostname);
  const machine = await registerMachine(service, secret, hostname);
  const { body } = await service.call('POST', '/v1/sessions', { as: secret, body: openingOn(machine, visibility) });
  return { secret, machine, sessionId: body.sessionId as string };
}

const own = { secret: '', sessionId: '' };

/** Opens a session that continues or forks another one. @returns its visibility, as its person sees it */
async function openAfter({ service, ours }: World, as: string, machine: Machine, parent: object): Promise<string> {
  const session = { ...openingOn(machine), clientKey: `comes-from-another-${++counter}`, ...parent };
  const { body } = await service.call('POST', '/v1/captured-sessions', { as, body: { sessions: [session] } });
  const url = `/v1/organizations/me/sessions/${body.results[0].session.sessionId}`;
  return (await service.call('GET', url, { as: ours.member })).body.session.visibility ?? 'team';
}

const BY_MACHINE = { route: 'restrictSession', as: () => own.secret } satisfies Partial<Scenario>;

export const RESTRICTIONS: readonly Scenario[] = [
  {
    ...BY_MACHINE,
    name: 'a stricter visibility takes effect',
    async ask(world) {
      Object.assign(own, await openOwn(world, 'facts'));
      return { params: { sessionId: own.sessionId }, body: { visibility: 'private' } };
    },
    status: 200,
    body: () => ({ visibility: 'private' }),
    async after({ service, ours }) {
      const url = `/v1/organizations/me/sessions/${own.sessionId}`;
      expect((await service.call('GET', url, { as: ours.admin })).status).toBe(404);
      expect((await service.call('GET', url, { as: ours.member })).body.session.visibility).toBe('private');
      const { entries } = (
        await service.call('GET', '/v1/organizations/me/audit?action=session.visibility_changed&limit=1', {
          as: ours.admin,
        })
      ).body;
      expect(entries).toMatchObject([
        {
          actor: { kind: 'secret' },
          action: 'session.visibility_changed',
          // The admin may not know of the session any more.
          target: { kind: 'session', id: 'withheld' },
          details: { from: 'facts', to: 'private' },
        },
      ]);
    },
  },
  {
    ...BY_MACHINE,
    name: 'a laxer visibility changes nothing, and the answer has the stored one',
    ask: () => ({ params: { sessionId: own.sessionId }, body: { visibility: 'team' } }),
    status: 200,
    body: () => ({ visibility: 'private' }),
    async after({ service, ours }) {
      const url = `/v1/organizations/me/sessions/${own.sessionId}`;
      expect((await service.call('GET', url, { as: ours.admin })).status).toBe(404);
    },
  },
  {
    ...BY_MACHINE,
    name: 'a session of another machine of the same person',
    async ask(world) {
      return {
        params: { sessionId: await openSigned(world, world.ours.member, 'team') },
        body: { visibility: 'facts' },
      };
    },
    status: 200,
    body: () => ({ visibility: 'facts' }),
  },
  {
    ...BY_MACHINE,
    name: 'a session of another person looks like an unknown one',
    async ask(world) {
      return {
        params: { sessionId: await openSigned(world, world.ours.admin, 'team') },
        body: { visibility: 'facts' },
      };
    },
    status: 404,
    code: 'not_found',
  },
  {
    ...BY_MACHINE,
    name: 'an unknown session',
    ask: { params: { sessionId: 'ses_none' } },
    status: 404,
    code: 'not_found',
  },
  {
    ...BY_MACHINE,
    name: 'an unknown visibility',
    ask: () => ({ params: { sessionId: own.sessionId }, body: { visibility: 'nobody' } }),
    status: 400,
    code: 'validation_failed',
    says: /^\/visibility /,
  },
  {
    route: 'captureSessions',
    name: 'a session that continues or forks another one gets the visibility that its person has since set there',
    as: ({ ours }) => ours.live,
    status: 200,
    async after(world) {
      const { service, ours } = world;
      const { secret, machine } = await openOwn(world, 'team');
      const clientKey = `a-session-to-come-from-${++counter}`;
      const session = { ...openingOn(machine), clientKey };
      const { body } = await service.call('POST', '/v1/captured-sessions', {
        as: secret,
        body: { sessions: [session] },
      });
      const url = `/v1/organizations/me/sessions/${body.results[0].session.sessionId}/visibility`;
      await service.call('PUT', url, { as: ours.member, body: { visibility: 'private' } });
      expect(await openAfter(world, secret, machine, { continues: clientKey })).toBe('private');
      expect(await openAfter(world, secret, machine, { forkedFrom: clientKey })).toBe('private');
      const other = await openOwn(world, 'team');
      expect(await openAfter(world, other.secret, other.machine, { forkedFrom: clientKey })).toBe('private');
      // The key of another person's session reveals nothing about its visibility.
      const theirs = await openOwn(world, 'team', ours.admin);
      const after = {
        ...openingOn(theirs.machine),
        clientKey: `asks-about-a-session-${++counter}`,
        continues: clientKey,
      };
      const answer = await service.call('POST', '/v1/captured-sessions', {
        as: theirs.secret,
        body: { sessions: [after] },
      });
      expect(answer.body.results[0].session).not.toHaveProperty('visibility');
    },
  },
];
