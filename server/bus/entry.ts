import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { Party } from '../../contract/audit.ts';

const Count = Type.Integer({ minimum: 0 });
/** Epoch milliseconds. Clients may report times before 1970. */
const Time = Type.Integer();
const Plane = Type.Union([Type.Literal('live'), Type.Literal('test')]);
const Nullable = <Schema extends typeof Time | ReturnType<typeof Type.String>>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** The entry in a message of a session's subject. The events of an append are the body of the message. */
const Entry = Type.Union([
  Type.Object({ kind: Type.Literal('opened'), plane: Plane, clientEndedAt: Nullable(Time) }),
  Type.Object({
    kind: Type.Literal('append'),
    plane: Plane,
    firstSequence: Type.Integer({ minimum: 1 }),
    lastSequence: Type.Integer({ minimum: 1 }),
    key: Nullable(Type.String()),
    fingerprint: Nullable(Type.String()),
    // Absent in messages of versions that did not write it.
    otherSecretId: Type.Optional(Nullable(Type.String())),
    appendId: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    codec: Count,
    at: Time,
  }),
  Type.Object({
    kind: Type.Literal('closed'),
    status: Type.Union([Type.Literal('completed'), Type.Literal('failed')]),
    endedAt: Time,
    /** The number of the session's last event. */
    eventCount: Count,
    at: Time,
  }),
  Type.Object({
    kind: Type.Literal('deleted'),
    // Absent in messages of versions that did not write it.
    isExpired: Type.Optional(Type.Boolean()),
    by: Type.Optional(Party),
  }),
]);
export type Entry = Static<typeof Entry>;
export type AppendEntry = Extract<Entry, { kind: 'append' }>;

/** A message of a session's subject. */
export interface Logged {
  /** The sequence of the message in the stream. */
  sequence: number;
  entry: Entry;
}

/** Identifies a session. */
export interface SessionPlace {
  organizationId: string;
  sessionId: string;
}

/**
 * Writes the entry for a header, which may contain only ASCII.
 * @throws if no worker could read it. A published entry that cannot be read would block its session and stop the workers
 */
export function writeEntry(entry: Entry): string {
  const text = JSON.stringify(entry).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (readEntry(text) === undefined) throw new Error(`an entry of the kind ${entry.kind} cannot be read again`);
  return text;
}

/** Returns undefined if this version does not understand the text. */
export function readEntry(text: string | undefined): Entry | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return Value.Check(Entry, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a token of a subject may contain. A caller's `*` or `.` must not address the subjects of others. */
const TOKEN = /^[A-Za-z0-9_-]{1,80}$/;

/** The end of the session's subject; undefined if no session can have such an id. */
export const writePlace = ({ organizationId, sessionId }: SessionPlace): string | undefined =>
  TOKEN.test(organizationId) && TOKEN.test(sessionId) ? `${organizationId}.${sessionId}` : undefined;

export function readPlace(subject: string): SessionPlace | undefined {
  const [organizationId, sessionId] = subject.split('.').slice(-2);
  return organizationId && sessionId ? { organizationId, sessionId } : undefined;
}
