import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs, seeded } from '../../contract/test/runs.ts';
import { scanAppend } from '../ingest/scan/append.ts';
import { appendText, mutate } from './scan-bodies.ts';
import { agrees, referenceOfAppend, verdictOf } from './scan-reference.ts';
import { createRandom } from './seed.ts';

const MUTATIONS_A_BODY = 99;

/** Bytes around the body that would change a verdict if the scan read them. */
const BEFORE = Buffer.from('{"events":[{"eventType":"');
const BEHIND = Buffer.from('0"}]}  "');

const within = (bytes: Buffer) =>
  Buffer.concat([BEFORE, bytes, BEHIND]).subarray(BEFORE.length, BEFORE.length + bytes.length);

describe('a scan of an append', () => {
  test(`accepts and reads any body as JSON.parse and the contract do ${seeded}`, () => {
    const tally = { accepted: 0, malformed_json: 0, validation_failed: 0 };
    const property = fc.property(appendText, fc.nat(), (body, seed) => {
      const random = createRandom(seed);
      const bytes = Buffer.from(body);
      expectSame(bytes);
      for (let i = 0; i < MUTATIONS_A_BODY; i++) expectSame(mutate(bytes, random));
    });

    function expectSame(bytes: Buffer) {
      const expected = referenceOfAppend(bytes);
      const actual = verdictOf(() => scanAppend(within(bytes)));
      tally['found' in expected ? 'accepted' : (expected.code as 'malformed_json')]++;
      if (agrees(actual, expected)) return;
      expect(actual, bytes.toString('latin1')).toEqual(expected);
    }

    fc.assert(property, runs(50));
    if (process.env.CAPTURE_TEST_TABLE) console.table(tally);
    const total = tally.accepted + tally.malformed_json + tally.validation_failed;
    for (const count of Object.values(tally)) expect(count, JSON.stringify(tally)).toBeGreaterThan(total / 75);
  });
});
