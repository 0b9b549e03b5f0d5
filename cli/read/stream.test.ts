import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import { makeFolder, write } from '../test/folder.ts';
import { openBytes } from './bytes.ts';
import { cursorAt, FILE_START } from './cursor.ts';
import { createRecordHash } from './identity.ts';
import type { CapturedRecord } from './record.ts';
import { createRecordStream } from './stream.ts';

const CHUNK = 4096;
const record = (length: number) => JSON.stringify({ type: 'user', text: 'é'.repeat(length / 2) });

function openStream(content: string) {
  const from = openBytes(write(join(makeFolder(), 's.jsonl'), content));
  const stream = createRecordStream({
    ...{ agent: claudeCode, path: 's.jsonl', origin: { session: 's' }, from, cursor: FILE_START, chunkBytes: CHUNK },
    ...{ hashRecord: createRecordHash(new Uint8Array(32)), isAbandoned: false },
  });
  onTestFinished(() => stream.close());
  return { from, stream };
}

test.each([
  ['empty lines', `${record(100)}\n${'\n'.repeat(2 * CHUNK)}${record(2000)}\n`],
  ['lines of blanks', `${record(100)}\r\n${`${' '.repeat(500)}\r\n`.repeat(20)}${record(2000)}\r\n`],
])('after a record and %s, the cursor continues at the next record', (_, content) => {
  const { from, stream } = openStream(content);
  const seen: CapturedRecord[] = [];
  // Like the reader: a record is taken over once the next one is read.
  for (let one = stream.next(); one !== undefined; ) {
    const next = stream.next();
    const cursor = one.cursor();
    expect(cursor).toMatchObject({ ...cursorAt(from, cursor.position), lastTime: 0 });
    seen.push(one);
    one = next;
  }
  expect(seen).toHaveLength(content.split('"user"').length - 1);
});
