import { expect } from 'vitest';
import { openSession } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';
import { openSigned } from '../signed-in.ts';

const TEXT = 'ours one';

export const MASKS: readonly Scenario[] = [
  {
    route: 'maskText',
    name: 'that a session has',
    as: ({ ours }) => ours.member,
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { text: TEXT } }),
    status: 200,
    after({ ours }, { body, text }) {
      expect(body).toMatchObject({ events: 1, places: 1, fields: 0, receipt: { by: ours.memberId, outcome: 'done' } });
      expect(text).not.toContain(TEXT);
    },
  },
  {
    route: 'maskText',
    name: 'only counted',
    as: ({ ours }) => ours.member,
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { text: 'ours two', dryRun: true } }),
    status: 200,
    after(_, { body }) {
      expect(body).toEqual({ events: 1, places: 1, fields: 0, mark: expect.stringMatching(/^\[REDACTED:manual:/) });
    },
  },
  {
    route: 'maskText',
    name: 'that is too short',
    as: ({ ours }) => ours.member,
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { text: 'a' } }),
    status: 400,
    code: 'validation_failed',
  },
  {
    route: 'maskText',
    name: 'that is two letters and blanks',
    as: ({ ours }) => ours.member,
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { text: ' ab  ' } }),
    status: 400,
    code: 'validation_failed',
  },
  {
    route: 'maskText',
    name: 'in a session of another organization',
    as: ({ ours }) => ours.owner,
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId }, body: { text: 'theirs one' } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'maskText',
    name: 'in a private session of somebody else',
    as: ({ ours }) => ours.owner,
    ask: async (world) => ({
      params: { sessionId: await openSigned(world, world.ours.member, 'private') },
      body: { text: TEXT },
    }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'maskText',
    name: 'in a session that a hold keeps',
    as: ({ ours }) => ours.member,
    async ask({ service, ours }) {
      const body = { target: { kind: 'session', id: ours.sessionId }, reason: 'a lawsuit' };
      await service.call('POST', '/v1/organizations/me/holds', { as: ours.admin, body });
      return { params: { sessionId: ours.sessionId }, body: { text: TEXT } };
    },
    status: 409,
    code: 'held',
  },
  {
    route: 'listMasks',
    name: 'of a session in which nothing was masked',
    as: ({ ours }) => ours.member,
    ask: async ({ service, ours }) => ({ params: { sessionId: await openSession(service, ours.live, ours) } }),
    status: 200,
    body: () => ({ masks: [] }),
  },
  {
    route: 'listMasks',
    name: 'of a session of another organization',
    as: ({ ours }) => ours.owner,
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'maskEverywhere',
    name: 'is noted, and goes on in the background',
    as: ({ ours }) => ours.admin,
    ask: { body: { text: 'nowhere to be found', dryRun: true } },
    status: 202,
    after(_, { body }) {
      expect(body.run).toMatchObject({ dryRun: true, sessions: 0, found: 0, events: 0 });
      expect(body.run.outcome).toBeUndefined();
    },
  },
  {
    route: 'maskEverywhere',
    name: 'that is too short',
    as: ({ ours }) => ours.admin,
    ask: { body: { text: ' ab  ' } },
    status: 400,
    code: 'validation_failed',
  },
  {
    route: 'cancelMaskRun',
    name: 'that has ended changes nothing',
    as: ({ ours }) => ours.admin,
    ask: ({ ours }) => ({ params: { runId: ours.runId } }),
    status: 200,
    body: ({ ours }) => ({ run: { runId: ours.runId, outcome: 'done' } }),
  },
  {
    route: 'cancelMaskRun',
    name: 'of another admin',
    as: ({ ours }) => ours.owner,
    ask: ({ ours }) => ({ params: { runId: ours.runId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'cancelMaskRun',
    name: 'of another organization',
    as: ({ ours }) => ours.admin,
    ask: ({ theirs }) => ({ params: { runId: theirs.runId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'listMaskRuns',
    name: 'of who has asked for none',
    as: ({ ours }) => ours.owner,
    ask: {},
    status: 200,
    body: () => ({ runs: [] }),
  },
];
