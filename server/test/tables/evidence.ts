import { expect } from 'vitest';
import { openEnvelope } from '../../../contract/dsse.ts';
import { COUNTERSIGNATURE } from '../../../contract/evidence.ts';
import { MACHINE_KEY } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import { openSigned } from '../signed-in.ts';
import type { World } from '../world.ts';

const ofOurs = ({ ours }: World) => ({ params: { sessionId: ours.sessionId } });
const namingKey = (sessionId: string, machineKey = MACHINE_KEY) => ({ params: { sessionId }, body: { machineKey } });
const isRefused = { status: 404, code: 'not_found' } as const;

const SIGNED = {
  agentId: expect.any(String),
  start: expect.stringMatching(/^[0-9a-f]{64}$/),
  head: expect.stringMatching(/^[0-9a-f]{64}$/),
  events: 2,
  signedAt: expect.any(String),
};

export const EVIDENCE: readonly Scenario[] = [
  {
    route: 'showEvidence',
    name: 'a session that the member may read',
    as: ({ ours }) => ours.member,
    ask: ofOurs,
    status: 200,
    after({ ours }, { body }) {
      expect(body).toEqual({ countersignature: expect.any(Object), masked: [], saltKeys: expect.any(Object) });
      const { statement } = openEnvelope(body.countersignature, COUNTERSIGNATURE);
      expect(statement).toEqual({ ...SIGNED, sessionId: ours.sessionId });
    },
  },
  {
    route: 'countersignSession',
    name: "the chain is signed with the machine's key",
    as: ({ ours }) => ours.live,
    ask: ({ ours }) => namingKey(ours.sessionId),
    status: 200,
    after({ ours }, { body }) {
      const { statement } = openEnvelope(body.countersignature, COUNTERSIGNATURE);
      expect(statement).toEqual({ ...SIGNED, sessionId: ours.sessionId, machineKey: MACHINE_KEY });
    },
  },
  {
    route: 'countersignSession',
    name: 'another key later is ignored: the first one stays',
    as: ({ ours }) => ours.live,
    ask: ({ ours }) => namingKey(ours.sessionId, MACHINE_KEY.replace('AAA=', 'ABA=')),
    status: 200,
    after(_, { body }) {
      expect(openEnvelope(body.countersignature, COUNTERSIGNATURE).statement).toMatchObject({
        machineKey: MACHINE_KEY,
      });
    },
  },
  {
    route: 'countersignSession',
    name: 'a text that is no key',
    as: ({ ours }) => ours.live,
    ask: ({ ours }) => namingKey(ours.sessionId, 'ours'),
    status: 400,
    code: 'validation_failed',
  },
  {
    route: 'countersignSession',
    name: 'a session on the other plane',
    as: ({ ours }) => ours.test,
    ask: ({ ours }) => namingKey(ours.sessionId),
    ...isRefused,
  },
  {
    route: 'countersignSession',
    name: 'a session of another organization',
    as: ({ ours }) => ours.live,
    ask: ({ theirs }) => namingKey(theirs.sessionId),
    ...isRefused,
  },
  {
    route: 'showEvidence',
    name: 'a session of another organization',
    as: ({ ours }) => ours.owner,
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    ...isRefused,
  },
  {
    route: 'showEvidence',
    name: 'a private session of another person',
    as: ({ ours }) => ours.owner,
    ask: async (world) => ({ params: { sessionId: await openSigned(world, world.ours.member, 'private') } }),
    ...isRefused,
  },
  {
    route: 'showEvidence',
    name: 'a session that shows the caller facts alone',
    as: ({ ours }) => ours.owner,
    ask: async (world) => ({ params: { sessionId: await openSigned(world, world.ours.member, 'facts') } }),
    status: 403,
    code: 'content_withheld',
  },
];
