import { Compile } from 'typebox/compile';
import { ExpectedEvents } from '../../../contract/capture.ts';
import { Text } from '../../../contract/common.ts';
import {
  ABSENT,
  type AppendPlaces,
  createAppendPlaces,
  createTextReader,
  expectUtf8,
  readEvents,
  readKey,
  type ScannedAppend,
  walkAppend,
  wrong,
} from './append.ts';
import { isArray, isName, isObject, nameOf, skipValue, walkArray, walkObject, walkText } from './json.ts';

/** One append of a bulk. `bytes` is its body as it was sent, of which the fingerprint is made. */
export interface ScannedBatch extends ScannedAppend {
  sessionId: string;
  idempotencyKey: string;
  expectedEvents: number | undefined;
  bytes: Buffer;
}

/**
 * Reads `{"appends":[{"sessionId":"…","idempotencyKey":"…","body":{"events":[…]}}, …]}` in one pass, as `scanAppend`
 * reads a single body. An `idempotencyKey` inside a `body` is ignored like any unknown field.
 * @throws Problem `malformed_json`, or `validation_failed` naming the field by its JSON pointer
 */
export function scanBulk(body: Buffer, mostBatches: number): ScannedBatch[] {
  expectUtf8(body);
  BULK.mostBatches = mostBatches;
  walkText(body, walkBulk, BULK);
  const { start, appends, count, of } = BULK;
  if (!isObject(body, start)) throw wrong('/', 'must be an object');
  if (appends === ABSENT) throw wrong('/appends', 'is missing');
  if (!isArray(body, appends) || count === 0 || count > mostBatches) {
    throw wrong('/appends', `must be a list of 1 to ${mostBatches} appends`);
  }
  return of.slice(0, count).map((batch, index) => readBatch(body, batch, `/appends/${index}`));
}

interface BatchPlaces {
  start: number;
  sessionId: number;
  key: number;
  expected: number;
  expectedEnd: number;
  body: number;
  bodyEnd: number;
  append: AppendPlaces;
}

interface BulkPlaces {
  start: number;
  appends: number;
  count: number;
  mostBatches: number;
  of: BatchPlaces[];
}

const BULK: BulkPlaces = { start: 0, appends: ABSENT, count: 0, mostBatches: 0, of: [] };

const APPENDS = nameOf('appends');
const SESSION_ID = nameOf('sessionId');
const KEY = nameOf('idempotencyKey');
const EXPECTED = nameOf('expectedEvents');
const BODY = nameOf('body');

function walkBulk(body: Buffer, start: number, bulk: BulkPlaces): number {
  bulk.start = start;
  bulk.appends = ABSENT;
  return isObject(body, start) ? walkObject(body, start, visitField, bulk) : skipValue(body, start);
}

function visitField(body: Buffer, name: number, value: number, bulk: BulkPlaces): number {
  if (!isName(body, name, APPENDS)) return skipValue(body, value);
  bulk.appends = value;
  bulk.count = 0;
  return isArray(body, value) ? walkArray(body, value, visitBatch, bulk) : skipValue(body, value);
}

const NO_BATCH = {
  ...{ start: 0, sessionId: ABSENT, key: ABSENT, expected: ABSENT, expectedEnd: 0, body: ABSENT, bodyEnd: 0 },
};

function visitBatch(body: Buffer, value: number, bulk: BulkPlaces): number {
  const index = bulk.count++;
  if (index >= bulk.mostBatches) return skipValue(body, value);
  bulk.of[index] ??= { ...NO_BATCH, append: createAppendPlaces() };
  const batch = bulk.of[index];
  Object.assign(batch, NO_BATCH, { start: value });
  return isObject(body, value) ? walkObject(body, value, visitBatchField, batch) : skipValue(body, value);
}

function visitBatchField(body: Buffer, name: number, value: number, batch: BatchPlaces): number {
  if (isName(body, name, BODY)) {
    batch.body = value;
    batch.bodyEnd = walkAppend(body, value, batch.append);
    return batch.bodyEnd;
  }
  const end = skipValue(body, value);
  if (isName(body, name, SESSION_ID)) batch.sessionId = value;
  else if (isName(body, name, KEY)) batch.key = value;
  else if (isName(body, name, EXPECTED)) {
    batch.expected = value;
    batch.expectedEnd = end;
  }
  return end;
}

const isExpectedEvents = Compile(ExpectedEvents);

function readExpected(body: Buffer, { expected, expectedEnd }: BatchPlaces, pointer: string): number | undefined {
  if (expected === ABSENT) return undefined;
  // The scan has found it to be JSON; a longer one is no such number.
  const value: unknown =
    expectedEnd - expected > 400 ? undefined : JSON.parse(body.toString('latin1', expected, expectedEnd));
  if (!isExpectedEvents.Check(value)) throw wrong(`${pointer}/expectedEvents`, 'must be a whole number of events');
  return value;
}

const readSessionId = createTextReader('sessionId', Text(255));

function readBatch(body: Buffer, batch: BatchPlaces, pointer: string): ScannedBatch {
  if (!isObject(body, batch.start)) throw wrong(pointer, 'must be an object');
  const sessionId = readSessionId(body, batch.sessionId, pointer);
  const idempotencyKey = readKey(body, batch.key, pointer);
  const expectedEvents = readExpected(body, batch, pointer);
  if (batch.body === ABSENT) throw wrong(`${pointer}/body`, 'is missing');
  const events = readEvents(body, batch.append, `${pointer}/body`);
  return { sessionId, idempotencyKey, expectedEvents, bytes: body.subarray(batch.body, batch.bodyEnd), events };
}
