import { expect } from 'vitest';
import { openSession } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';
import { openSigned } from '../signed-in.ts';

const TEXT = 'ours one';

export const MASKS: readonly Scenario[] = [
  {
    route: 'maskText',
    name: 'a text that the session contains is masked',
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
    name: 'a dry run only counts',
    as: ({ ours }) => ours.member,
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { text: 'ours two', dryRun: true } }),
    status: 200,
    after(_, { body }) {
      expect(body).toEqual({ events: 1, places: 1, fields: 0, mark: expect.stringMatching(/^\[REDACTED:manual:/) });
    },
  },
  {
    route: 'maskText',
    name: 'a text that is too short',
    as: ({ ours }) => ours.member,
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { text: 'a' } }),
    status: 400,
    code: 'validation_failed',
  },
  {
    route: 'maskText',
    name: 'a text of two letters and spaces',
    as: ({ ours }) => ours.member,
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, body: { text: ' ab  ' } }),
    status: 400,
    code: 'validation_failed',
  },
  {
    route: 'maskText',
    name: 'a session of another organization',
    as: ({ ours }) => ours.owner,
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId }, body: { text: 'theirs one' } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'maskText',
    name: 'a private session of another person',
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
    name: 'a session under a hold',
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
    name: 'a session without masks',
    as: ({ ours }) => ours.member,
    ask: async ({ service, ours }) => ({ params: { sessionId: await openSession(service, ours.live, ours) } }),
    status: 200,
    body: () => ({ masks: [] }),
  },
  {
    route: 'listMasks',
    name: 'a session of another organization',
    as: ({ ours }) => ours.owner,
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'maskEverywhere',
    name: 'the run is recorded and continues in the background',
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
    name: 'a text that is too short',
    as: ({ ours }) => ours.admin,
    ask: { body: { text: ' ab  ' } },
    status: 400,
    code: 'validation_failed',
  },
  {
    route: 'cancelMaskRun',
    name: 'cancelling a finished run changes nothing',
    as: ({ ours }) => ours.admin,
    ask: ({ ours }) => ({ params: { runId: ours.runId } }),
    status: 200,
    body: ({ ours }) => ({ run: { runId: ours.runId, outcome: 'done' } }),
  },
  {
    route: 'cancelMaskRun',
    name: 'a run of another admin',
    as: ({ ours }) => ours.owner,
    ask: ({ ours }) => ({ params: { runId: ours.runId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'cancelMaskRun',
    name: 'a run of another organization',
    as: ({ ours }) => ours.admin,
    ask: ({ theirs }) => ({ params: { runId: theirs.runId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'listMaskRuns',
    name: 'an admin without runs gets an empty list',
    as: ({ ours }) => ours.owner,
    ask: {},
    status: 200,
    body: () => ({ runs: [] }),
  },
];
