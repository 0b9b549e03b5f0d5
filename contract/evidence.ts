import { type Static, Type } from 'typebox';
import { Body, Id, Timestamp } from './common.ts';
import { Envelope } from './dsse.ts';
import { SaltKeys } from './salts.ts';

/** The payload type of the service's signature. */
export const COUNTERSIGNATURE = 'application/vnd.session-capture.head+json';

const Digest = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });

const MachineKey = Type.String({
  pattern: '^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$',
  description: 'Ed25519 public key: base64 of SPKI in DER',
});

/** The statement that the service signs: the events of the session that it has, and the first key that the machine named. */
export const Countersigned = Type.Object({
  sessionId: Id('ses'),
  agentId: Type.String(),
  start: Digest('the head before the first event'),
  events: Type.Integer({ minimum: 0 }),
  head: Digest('the head after the last of these events'),
  machineKey: Type.Optional(MachineKey),
  masked: Type.Optional(
    Digest('of the list of events that were masked after they were stored; absent if there are none'),
  ),
  signedAt: Timestamp,
});
export type Countersigned = Static<typeof Countersigned>;

export const MaskedDigest = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  digest: Digest('of the event in its accepted form'),
});

/** The service's knowledge of the chain of a session. */
export const Evidence = Type.Object({
  countersignature: { ...Envelope, description: 'DSSE; its payload says `Countersigned`' },
  masked: Type.Array(MaskedDigest, { description: 'events that were masked after they were stored' }),
  saltKeys: {
    ...SaltKeys,
    description: 'keys of the salts of all signed events that are not masked; none if the content has expired',
  },
});
export type Evidence = Static<typeof Evidence>;

export const EvidenceBody = Body({
  machineKey: { ...MachineKey, description: 'the key that the machine signs with; the first one of a session stays' },
});

/** The payload type of a receipt's envelope. */
export const RECEIPT = 'application/vnd.in-toto+json';

/** The statement that a machine signs about a session: an in-toto statement about the events that it sent. */
export const Receipt = Type.Object({
  _type: Type.Literal('https://in-toto.io/Statement/v1'),
  subject: Type.Array(Type.Object({ name: Id('ses'), digest: Type.Object({ sha256: Digest('the head') }) })),
  predicateType: Type.Literal('urn:session-capture:receipt:v1'),
  predicate: Type.Object({
    agentId: Type.String(),
    start: Digest('the head before the first event'),
    events: Type.Integer({ minimum: 0 }),
    head: Digest('the head after the last event'),
    masked: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
      description: 'number of texts that were masked before they were sent, by rule',
    }),
    maskedLater: Type.Array(MaskedDigest),
    saltKeys: { ...SaltKeys, description: 'keys of the salts of all other events' },
    countersignature: Envelope,
    madeAt: Timestamp,
    madeBy: Type.String({ description: 'program and version' }),
  }),
});
export type Receipt = Static<typeof Receipt>;
