import { type Static, Type } from 'typebox';
import { Body, Id, JsonObject, Timestamp } from './common.ts';

/** UTF-8 bytes of one payload as sent. */
export const MAX_PAYLOAD_BYTES = 256 * 1024;
/** The deepest nesting of a payload. The payload itself is the first level. */
export const MAX_PAYLOAD_DEPTH = 128;
/** The most events of one append. */
export const MAX_BATCH_EVENTS = 50;

/** 1 to 256 characters, none of them a control character. */
const EventType = Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$' });

/** An event as stored. `payload` is the JSON value in its sent form, digit for digit. */
export const SessionEvent = Type.Object({
  sessionId: Id('ses'),
  eventId: Id('evt'),
  sequence: Type.Integer({ minimum: 1 }),
  eventType: Type.String(),
  payload: JsonObject,
  createdAt: Timestamp,
});
export type SessionEvent = Static<typeof SessionEvent>;

export const NewEvent = Type.Object({ eventType: EventType, payload: Type.Optional(JsonObject) });
export type NewEvent = Static<typeof NewEvent>;

/** 1 to 255 visible ASCII characters. */
export const IdempotencyKey = Type.String({ minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' });

export const AppendBody = Body({
  events: Type.Array(NewEvent, { minItems: 1, maxItems: MAX_BATCH_EVENTS }),
  idempotencyKey: Type.Optional(IdempotencyKey),
});

export const Appended = Type.Object({
  sessionId: Id('ses'),
  accepted: Type.Integer(),
  firstSequence: Type.Integer(),
  lastSequence: Type.Integer(),
  async: Type.Boolean(),
});
export type Appended = Static<typeof Appended>;

export const EventQuery = Type.Object({
  cursor: Type.Optional(Type.String()),
  limit: Type.Optional(Type.String({ description: 'default 100, not clamped; not a positive integer: an empty page' })),
});

export const EventPage = Type.Object({
  events: Type.Array(SessionEvent),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
});
export type EventPage = Static<typeof EventPage>;

/** The largest decoded body of an append: a full batch of full payloads, with its types and its punctuation. */
export const MAX_APPEND_BYTES = MAX_BATCH_EVENTS * (MAX_PAYLOAD_BYTES + 4096);
