import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { openReading, spooledEvents } from '../test/reading.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

test.runIf(process.platform === 'linux')(
  'a session of many sub-agents opens only some of their files at once',
  async () => {
    const root = makeFolder();
    const count = 250;
    write(join(root, `p/${sessionId(1)}.jsonl`), `${prompt(1, 0, 'main')}\n`);
    for (let id = 1; id <= count; id++) {
      const record = prompt(1, id, `task ${id}`, { isSidechain: true, agentId: `a${id}` });
      write(join(root, `p/${sessionId(1)}/subagents/agent-a${id}.jsonl`), `${record}\n`);
    }
    const openFiles = () => readdirSync('/proc/self/fd').length;
    const before = openFiles();
    let most = 0;
    const { read, spool, troubles } = openReading(root, ':memory:', {
      redactor: {
        redact(events) {
          most = Math.max(most, openFiles() - before);
          return [...events];
        },
      },
    });
    await read();
    expect(troubles).toEqual([]);
    expect([...spooledEvents(spool).values()].flat()).toHaveLength(count + 1);
    expect(spool.sessions.isSettled('claude-code', sessionId(1))).toBe(true);
    expect(most).toBeLessThan(120);
  },
);

test('a transcript that ends in the NULs of a crash is read completely', async () => {
  const root = makeFolder();
  write(join(root, `p/${sessionId(1)}.jsonl`), `${prompt(1, 0, 'one')}\n${'\0'.repeat(143 * 1024)}`);
  const { read, findWork, spool } = openReading(root);
  expect(findWork().sessions).toHaveLength(1);
  await read();
  expect([...spooledEvents(spool).values()].flat()).toHaveLength(1);
  const later = openReading(root, ':memory:');
  await later.read();
  expect(later.findWork().sessions).toEqual([]);
  write(
    join(root, `p/${sessionId(1)}.jsonl`),
    `${prompt(1, 0, 'one')}\n${'\0'.repeat(143 * 1024)}${prompt(1, 1, 'two')}\n`,
  );
  await later.read();
  expect([...spooledEvents(later.spool).values()].flat()).toHaveLength(2);
});

test('the version of the agent is known if the first record of a transcript does not name it', async () => {
  const root = makeFolder();
  const first = JSON.stringify({ type: 'queue-operation', operation: 'enqueue', sessionId: sessionId(1) });
  const versions = ['2.1.329', '2.1.330', '', '\0'];
  const prompts = versions.map((version, index) => prompt(1, index, `prompt ${index}`, { version }));
  write(join(root, `p/${sessionId(1)}.jsonl`), `${[first, ...prompts].join('\n')}\n`);
  const { read, spool } = openReading(root);
  await read();
  const known = spool.batches.perSession().map(({ session }) => spool.sessions.get(session).agentVersion);
  expect(known, 'the latest one that the service accepts').toEqual(['2.1.330']);
});
