import { expect } from 'vitest';
import { issueSecret, openSession, registerMachine } from '../factories.ts';
import { capturing } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import { captured, events, ofKey } from './captured.ts';

export const DELETIONS: readonly Scenario[] = [
  {
    route: 'deleteCapturedSession',
    name: 'the session is gone, and its key stays known as deleted',
    async ask(world) {
      await captured(world, 'q');
      return { params: ofKey('q') };
    },
    status: 200,
    async after(world, { body }) {
      const { service, ours } = world;
      const { sessionId } = body;
      const again = { as: ours.live, body: { sessions: [capturing(world, 'q'.repeat(43))] } };
      expect((await service.call('POST', '/v1/captured-sessions', again)).body.results).toEqual([
        { ...ofKey('q'), outcome: 'deleted' },
      ]);
      const late = await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body: events('x') });
      expect(late).toMatchObject({ status: 404, body: { code: 'session_deleted' } });
      const closed = await service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: ours.live });
      expect(closed).toMatchObject({ status: 404, body: { code: 'session_deleted' } });
      const read = await service.call('GET', `/v1/organizations/me/sessions/${sessionId}`, { as: ours.member });
      expect(read).toMatchObject({ status: 404, body: { code: 'not_found' } });
    },
  },
  {
    route: 'deleteCapturedSession',
    name: 'a repeated deletion succeeds',
    async ask(world) {
      await captured(world, 'r');
      await world.service.call('DELETE', `/v1/captured-sessions/${'r'.repeat(43)}`, { as: world.ours.live });
      return { params: ofKey('r') };
    },
    status: 200,
  },
  {
    route: 'deleteCapturedSession',
    name: 'an unused key',
    ask: { params: ofKey('z') },
    status: 404,
    code: 'not_found',
  },
  {
    route: 'deleteCapturedSession',
    name: 'a key of the other plane',
    async ask(world) {
      await captured(world, 's', world.ours.test);
      return { params: ofKey('s') };
    },
    status: 404,
  },
  {
    route: 'deleteCapturedSession',
    name: 'a session that another machine captured',
    async as({ service, ours }) {
      const other = await issueSecret(service, ours.owner, 'live');
      await registerMachine(service, other);
      return other;
    },
    async ask(world) {
      await captured(world, 't');
      return { params: ofKey('t') };
    },
    status: 403,
    code: 'other_machine',
    says: /Ask an owner or admin/,
    async after(world) {
      const again = { as: world.ours.live, body: { sessions: [capturing(world, 't'.repeat(43))] } };
      const { results } = (await world.service.call('POST', '/v1/captured-sessions', again)).body;
      expect(results[0].outcome).toBe('found');
    },
  },
  {
    route: 'forgetDeletion',
    name: 'the key opens a new session, and the old one stays deleted',
    async ask(world) {
      const sessionId = await captured(world, 'u');
      await world.service.call('DELETE', `/v1/captured-sessions/${'u'.repeat(43)}`, { as: world.ours.live });
      return { params: { sessionId } };
    },
    status: 200,
    async after(world, { body: { sessionId } }) {
      const { service, ours } = world;
      const again = { as: ours.live, body: { sessions: [capturing(world, 'u'.repeat(43))] } };
      const [result] = (await service.call('POST', '/v1/captured-sessions', again)).body.results;
      expect(result.outcome).toBe('opened');
      expect(result.session.sessionId).not.toBe(sessionId);
      const late = await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body: events('x') });
      expect(late).toMatchObject({ status: 404, body: { code: 'session_deleted' } });
    },
  },
  {
    route: 'forgetDeletion',
    name: 'a session that was not deleted',
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'forgetDeletion',
    name: 'a deleted session of another organization',
    async ask({ service, theirs }) {
      await service.call('DELETE', `/v1/organizations/me/sessions/${theirs.spareSessionId}`, { as: theirs.owner });
      return { params: { sessionId: theirs.spareSessionId } };
    },
    status: 404,
    code: 'not_found',
  },
  {
    route: 'getDeletionReceipt',
    name: 'a session that an admin deleted',
    async ask({ service, ours }) {
      const sessionId = await openSession(service, ours.live, ours);
      await service.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: ours.owner });
      return { params: { sessionId } };
    },
    status: 200,
    body: ({ ours }, { params }) => ({
      ...{ sessionId: params?.sessionId, why: 'person', by: { kind: 'person', id: ours.ownerId }, events: 0 },
    }),
  },
  {
    route: 'getDeletionReceipt',
    name: 'a session that was not deleted',
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'getDeletionReceipt',
    name: 'a deleted session of another organization',
    async ask({ service, theirs }) {
      const sessionId = await openSession(service, theirs.live, theirs);
      await service.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: theirs.owner });
      return { params: { sessionId } };
    },
    status: 404,
    code: 'not_found',
  },
  {
    route: 'deleteSession',
    name: 'open and closed sessions are deleted with their events',
    async ask(world) {
      const sessionId = await openSession(world.service, world.ours.live, world.ours);
      return { params: { sessionId } };
    },
    status: 200,
    async after({ service, ours }, { body }) {
      const list = await service.call('GET', '/v1/organizations/me/sessions?limit=100', { as: ours.member });
      expect(list.text).not.toContain(body.sessionId);
      const url = `/v1/organizations/me/session-summaries?sessionIds=${body.sessionId}`;
      expect((await service.call('GET', url, { as: ours.member })).body).toEqual({ summaries: [] });
    },
  },
  {
    route: 'deleteSession',
    name: 'a session of another organization',
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
    code: 'not_found',
  },
];
