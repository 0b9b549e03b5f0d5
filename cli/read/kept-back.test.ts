import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../agents/agent.ts';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { prompt } from '../test/transcripts.ts';
import { createRecordHash } from './identity.ts';
import { findKeptBack } from './kept-back.ts';

const record = (id: number) => `${prompt(1, id, 'said')}\n`;

/** A transcript whose session is kept back, and the number of records that each look at it parses. */
function prepare() {
  const root = makeFolder();
  const path = write(join(root, 's.jsonl'), [0, 1, 2].map(record).join(''));
  const { decisions, close } = openSpool(':memory:');
  onTestFinished(close);
  const hashRecord = createRecordHash(new Uint8Array(32));
  function look(): number {
    const { size, mtimeMs: modifiedAt } = statSync(path);
    const transcript = { agent: claudeCode, root, path: 's.jsonl', isPacked: false, size, modifiedAt, bornAt: 0 };
    let records = 0;
    const count = (of: string | Uint8Array) => {
      records++;
      return hashRecord(of);
    };
    findKeptBack(decisions, count, { ...transcript, origin: { session: 's' } })?.();
    return records;
  }
  const place = { origin: { session: 's' }, file: 's.jsonl', position: 0 };
  const keyOf = (id: number) => claudeCode.recordKey(JSON.parse(record(id)) as JsonObject, place);
  const isKnown = (id: number) =>
    decisions.keptBackOwners('claude-code', hashRecord(`claude-code ${keyOf(id)}`)).includes('s');
  return { path, look, isKnown };
}

test('each record of a growing, kept-back file is read once', () => {
  const { path, look, isKnown } = prepare();
  expect(look()).toBe(3);
  expect(look()).toBe(0);
  appendFileSync(path, record(3));
  expect(look()).toBe(1);
  expect([0, 3, 4].map(isKnown)).toEqual([true, true, false]);
});

test('a line that was cut off is read again when it is whole', () => {
  const { path, look, isKnown } = prepare();
  const whole = record(3);
  appendFileSync(path, whole.slice(0, 20));
  look();
  appendFileSync(path, whole.slice(20));
  expect(look()).toBe(1);
  expect(isKnown(3)).toBe(true);
});

test('a rewritten file is read from its beginning', () => {
  const { path, look, isKnown } = prepare();
  look();
  write(path, [7, 8, 9, 10].map(record).join(''));
  expect(look()).toBe(4);
  expect(isKnown(7)).toBe(true);
});
