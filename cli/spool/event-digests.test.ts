import { zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chainStart, eventDigest, follow } from '../../contract/chain.ts';
import { newChainKey, saltKeysOf, saltsOf } from '../../contract/salts.ts';
import { runs } from '../../contract/test/runs.ts';
import { followAppends } from '../../server/derive/follow-appends.ts';
import { scanAppend } from '../../server/ingest/scan/append.ts';
import { encodeFrame } from '../../server/log/frame.ts';
import { VOCABULARY } from '../../transcript/vocabulary.ts';
import { createBatching } from '../read/batching.ts';
import { readEvents, withEvents } from '../upload/refusals.ts';
import type { Batch } from './batches.ts';
import { digestEvents, eachDigest } from './event-digests.ts';

const START = chainStart('codex', 'one');
const SALT_KEYS = saltKeysOf(newChainKey());

/** The head that the service computes from the body of a batch. */
function headAtService({ body }: Pick<Batch, 'body'>) {
  const plain = zstdDecompressSync(body);
  const { events } = scanAppend(plain);
  const append = { first_sequence: 1, ...encodeFrame(events) };
  const session = { sessionId: 'one', head: START, through: events.length, saltKeys: SALT_KEYS, masked: new Map() };
  return followAppends({ ...session, appends: [append] });
}

function headHere(batch: Omit<Batch, 'id'>) {
  const saltOf = saltsOf(SALT_KEYS);
  let head = START;
  for (const content of eachDigest(batch)) head = follow(head, eventDigest(saltOf(head.sequence + 1) ?? '', content));
  return head;
}

const EVENTS = fc.array(
  fc.record({
    eventType: fc.constantFrom(...Object.keys(VOCABULARY)),
    payload: fc.dictionary(fc.string(), fc.jsonValue()),
  }),
  { minLength: 1, maxLength: 8 },
);

test('the digests of a batch are those that the service computes, also of a part of the batch', () => {
  fc.assert(
    fc.property(EVENTS, (events) => {
      const made: Omit<Batch, 'id'>[] = [];
      const spool = { batches: { add: (batch: Omit<Batch, 'id'>) => void made.push(batch) } } as never;
      const batching = createBatching({ spool, now: () => 0, newKey: () => 'key' });
      for (const event of events) batching.add(1, Buffer.from(JSON.stringify(event)));
      batching.seal();
      const [batch] = made as [Omit<Batch, 'id'>];
      expect(headHere(batch)).toEqual(headAtService(batch));
      const part = withEvents(batch, readEvents(batch).slice(1));
      if (part.events > 0) expect(headHere(part)).toEqual(headAtService(part));
    }),
    runs(50),
  );
});

test('the marks of a batch are counted by rule, and only in payloads', () => {
  const text = (payload: string) => `{"eventType":"notice","payload":{"text":"${payload}"}}`;
  const { marks } = digestEvents([
    text('[REDACTED:aws:1f0c] [REDACTED:aws:1f0d]'),
    text('[REDACTED:npm:0000]'),
    text(''),
  ]);
  expect(marks).toEqual({ aws: 2, npm: 1 });
});
