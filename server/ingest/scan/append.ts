import { isUtf8 } from 'node:buffer';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  AppendBody,
  MAX_BATCH_EVENTS,
  MAX_PAYLOAD_BYTES,
  MAX_PAYLOAD_DEPTH,
  NewEvent,
} from '../../../contract/event.ts';
import { Problem } from '../../../contract/problem.ts';
import {
  isArray,
  isName,
  isObject,
  isString,
  nameOf,
  readString,
  skippedDepth,
  skipValue,
  walkArray,
  walkObject,
  walkText,
} from './json.ts';

/** One event of a batch: its type, and the JSON text of its payload as it was sent (a view into the body; `{}` if absent). */
export interface ScannedEvent {
  eventType: string;
  payload: Buffer;
}

export interface ScannedAppend {
  events: ScannedEvent[];
  idempotencyKey: string | undefined;
}

/**
 * Reads the decoded body of an append in one pass and in linear time. It accepts exactly what `JSON.parse` and the schema
 * `AppendBody` accept. The last of several equal names counts, so a violation is certain only at the end of the body.
 * @throws Problem `malformed_json`, or `validation_failed` naming the field by its JSON pointer
 */
export function scanAppend(body: Buffer): ScannedAppend {
  if (!isUtf8(body)) throw new Problem('malformed_json', 'The body is not UTF-8.');
  walkText(body, walkAppend, PLACES);
  const events = readEvents(body, PLACES);
  const idempotencyKey = PLACES.key === ABSENT ? undefined : readKey(body, PLACES.key, '');
  return { events, idempotencyKey };
}

const ABSENT = -1;

/** Where an event and its parts begin. */
interface EventPlaces {
  start: number;
  eventType: number;
  payload: number;
  payloadEnd: number;
  payloadDepth: number;
}

/** Where an append's body and its parts begin. */
interface AppendPlaces {
  start: number;
  events: number;
  count: number;
  key: number;
  of: EventPlaces[];
}

/** Every scan overwrites it, so that a scan allocates nothing. */
const PLACES: AppendPlaces = { start: ABSENT, events: ABSENT, count: 0, key: ABSENT, of: [] };

const EVENTS = nameOf('events');
const KEY = nameOf('idempotencyKey');
const EVENT_TYPE = nameOf('eventType');
const PAYLOAD = nameOf('payload');

/** Finds the parts of the append at `start`, and returns its end. Checks the JSON grammar, but not the schema. */
function walkAppend(body: Buffer, start: number, places: AppendPlaces): number {
  places.start = start;
  places.events = ABSENT;
  places.key = ABSENT;
  return isObject(body, start) ? walkObject(body, start, visitField, places) : skipValue(body, start);
}

function visitField(body: Buffer, name: number, value: number, places: AppendPlaces): number {
  if (isName(body, name, EVENTS)) {
    places.events = value;
    places.count = 0;
    if (isArray(body, value)) return walkArray(body, value, visitEvent, places);
  } else if (isName(body, name, KEY)) places.key = value;
  return skipValue(body, value);
}

function visitEvent(body: Buffer, value: number, places: AppendPlaces): number {
  const index = places.count++;
  if (index >= MAX_BATCH_EVENTS) return skipValue(body, value);
  places.of[index] ??= { start: 0, eventType: 0, payload: 0, payloadEnd: 0, payloadDepth: 0 };
  const event = places.of[index];
  event.start = value;
  event.eventType = ABSENT;
  event.payload = ABSENT;
  return isObject(body, value) ? walkObject(body, value, visitEventField, event) : skipValue(body, value);
}

function visitEventField(body: Buffer, name: number, value: number, event: EventPlaces): number {
  const end = skipValue(body, value);
  if (isName(body, name, PAYLOAD)) {
    event.payload = value;
    event.payloadEnd = end;
    event.payloadDepth = skippedDepth();
  } else if (isName(body, name, EVENT_TYPE)) event.eventType = value;
  return end;
}

/** @throws Problem `validation_failed` */
function readEvents(body: Buffer, { start, events, count, of }: AppendPlaces): ScannedEvent[] {
  if (!isObject(body, start)) throw wrong('/', 'must be an object');
  if (events === ABSENT) throw wrong('/events', 'is missing');
  if (!isArray(body, events) || count === 0 || count > MAX_BATCH_EVENTS) {
    throw wrong('/events', `must be a list of 1 to ${MAX_BATCH_EVENTS} events`);
  }
  const read: ScannedEvent[] = [];
  for (let i = 0; i < count; i++) read.push(readEvent(body, of[i] as EventPlaces, `/events/${i}`));
  return read;
}

const EMPTY_PAYLOAD = Buffer.from('{}');

function readEvent(body: Buffer, event: EventPlaces, pointer: string): ScannedEvent {
  if (!isObject(body, event.start)) throw wrong(pointer, 'must be an object');
  const eventType = readEventType(body, event.eventType, pointer);
  if (event.payload === ABSENT) return { eventType, payload: EMPTY_PAYLOAD };
  return { eventType, payload: readPayload(body, event, `${pointer}/payload`) };
}

function readPayload(body: Buffer, { payload, payloadEnd, payloadDepth }: EventPlaces, pointer: string): Buffer {
  if (!isObject(body, payload)) throw wrong(pointer, 'must be an object');
  const bytes = payloadEnd - payload;
  if (bytes > MAX_PAYLOAD_BYTES) {
    const split = 'Split it over several events. Nothing of the batch was stored';
    throw wrong(pointer, `has ${bytes} bytes, and ${MAX_PAYLOAD_BYTES} is the most. ${split}`);
  }
  if (payloadDepth > MAX_PAYLOAD_DEPTH) {
    throw wrong(pointer, `is nested deeper than ${MAX_PAYLOAD_DEPTH} levels. Nothing of the batch was stored`);
  }
  return body.subarray(payload, payloadEnd);
}

const readEventType = createTextReader('eventType', NewEvent.properties.eventType);
const readKey = createTextReader('idempotencyKey', AppendBody.properties.idempotencyKey);

/** Reads a string, and checks it against its schema. `pointer` leads to the object around it. */
function createTextReader(name: string, schema: TSchema) {
  const validator = Compile(schema);
  return (body: Buffer, start: number, pointer: string): string => {
    if (start === ABSENT) throw wrong(`${pointer}/${name}`, 'is missing');
    if (!isString(body, start)) throw wrong(`${pointer}/${name}`, 'must be a string');
    const text = readString(body, start);
    if (!validator.Check(text)) throw wrong(`${pointer}/${name}`, validator.Errors(text)[0]?.message ?? 'is wrong');
    return text;
  };
}

const wrong = (pointer: string, what: string) => new Problem('validation_failed', `${pointer} ${what}.`);
