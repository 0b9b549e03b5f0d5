import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { makeFolder, write } from './folder.ts';
import { openReading, spooledEvents } from './reading.ts';
import { mode, prompt, sessionId } from './transcripts.ts';

const path = `-home/${sessionId(1)}.jsonl`;

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => ({ text })) },
  { weight: 2, arbitrary: fc.constantFrom(mode(1), mode(1, 'plan')).map((line) => ({ line })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('', '  ', 'junk', '[1,2]', '"text"', '{"torn":', '}', '{"a":1}}')
      .map((line) => ({ line })),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }).map((bytes) => ({ bytes })) },
);

/** Lines of a transcript; some are joined with the next, invalid JSON or invalid UTF-8. */
const content = fc
  .array(fc.tuple(piece, fc.constantFrom('\n', '\n', '\n', '\r\n', '', ' \n\u0000\u0000')), {
    minLength: 1,
    maxLength: 25,
  })
  .map((pieces) =>
    Buffer.concat(
      pieces.map(([item, end], index) => {
        const line = 'text' in item ? prompt(1, index, item.text) : 'line' in item ? item.line : undefined;
        return Buffer.concat([Buffer.from(line ?? ('bytes' in item ? item.bytes : '')), Buffer.from(end)]);
      }),
    ),
  );

test('a file read in any slices, with restarts between, gives the same events as the whole file', async () => {
  await fc.assert(
    fc.asyncProperty(content, fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 8 }), async (bytes, cuts) => {
      const whole = makeRoot(prompt(1, 9999, 'first'));
      const reading = openReading(whole.root);
      appendFileSync(whole.file, bytes);
      appendFileSync(whole.file, '\n');
      await reading.read();

      const grown = makeRoot(prompt(1, 9999, 'first'));
      let growing = openReading(grown.root, grown.spool);
      const ends = cuts
        .map(([cut, restart]) => ({ end: cut % (bytes.length + 1), restart }))
        .sort((a, b) => a.end - b.end);
      let start = 0;
      for (const { end, restart } of [...ends, { end: bytes.length, restart: true }]) {
        appendFileSync(grown.file, bytes.subarray(start, end));
        start = end;
        if (restart) {
          growing.spool.close();
          growing = openReading(grown.root, grown.spool);
        }
        await growing.read();
      }
      appendFileSync(grown.file, '\n');
      await growing.read();

      expect(spooledEvents(growing.spool)).toEqual(spooledEvents(reading.spool));
      reading.spool.close();
      growing.spool.close();
    }),
    runs(20),
  );
});

function makeRoot(first: string) {
  const folder = makeFolder();
  return {
    root: join(folder, 'root'),
    file: write(join(folder, 'root', path), `${first}\n`),
    spool: join(folder, 'spool.db'),
  };
}
