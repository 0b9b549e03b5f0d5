import { type Static, Type } from 'typebox';
import { Id, Timestamp } from './common.ts';

const count = Type.Integer({ minimum: 1 });

/** A secret that sent events of a session, although it does not belong to the session's machine. */
export const SessionSender = Type.Object({
  secretId: Id('sec'),
  name: Type.Optional(Type.String({ description: 'of the secret' })),
  environmentId: Type.Optional({ ...Id('env'), description: 'the machine of the secret; absent if it has none' }),
  events: count,
  firstSequence: count,
  lastSequence: count,
  lastAt: Timestamp,
});

export const SessionSenders = Type.Object({
  senders: Type.Array(SessionSender, { description: 'in the order of their first events, at most 100' }),
});
export type SessionSenders = Static<typeof SessionSenders>;
