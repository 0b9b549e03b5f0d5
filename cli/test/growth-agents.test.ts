import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cursor } from '../agents/cursor.ts';
import { geminiCli } from '../agents/gemini-cli.ts';
import { makeFolder, write } from './folder.ts';
import { openReading, spooledEvents } from './reading.ts';

/** Agents whose files say something again, in other words or under another name. */
test.each([
  { agent: geminiCli, path: 'shop/chats/session-2026-11-06T09-00-dddddddd.jsonl' },
  { agent: cursor, path: 'bbbbbbbb-1111-4222-8333-444444444444.jsonl' },
])(
  'a session of $agent.id gives the same events in any slices, with restarts between',
  async ({ agent, path }) => {
    const fixture = fileURLToPath(new URL(join('../agents/fixtures', agent.id, path), import.meta.url));
    const bytes = readFileSync(fixture);

    async function readIn(ends: readonly number[]) {
      const folder = makeFolder();
      const file = write(join(folder, 'root', path), '');
      let start = 0;
      let reading = openReading(join(folder, 'root'), join(folder, 'spool.db'), { agent });
      for (const end of [...ends, bytes.length]) {
        appendFileSync(file, bytes.subarray(start, end));
        start = end;
        await reading.read();
        reading.spool.close();
        reading = openReading(join(folder, 'root'), join(folder, 'spool.db'), { agent });
      }
      const events = [...spooledEvents(reading.spool).values()].flat();
      reading.spool.close();
      return events;
    }

    const whole = await readIn([]);
    expect(whole.length).toBeGreaterThan(20);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 6 }), async (cuts) => {
        expect(await readIn(cuts.sort((one, other) => one - other))).toEqual(whole);
      }),
      { numRuns: Number(process.env.CAPTURE_TEST_RUNS ?? 15) },
    );
  },
  120_000,
);
