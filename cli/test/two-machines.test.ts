import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, write } from './folder.ts';
import { startHeld } from './held.ts';
import { run } from './program.ts';
import { prompt, sessionId } from './transcripts.ts';

test('a session that goes to another machine and comes back is captured once and in order', async () => {
  const { home, options, events } = await startHeld();
  const file = join(home, '.claude/projects/p', `${sessionId(1)}.jsonl`);
  const on = (state: string) => ({ ...options, variables: { CAPTURE_HOME: state } });
  // Each has a state of its own, and the same transcript.
  const machines = [on(makeFolder()), on(makeFolder())];
  const said: string[] = [];
  write(file, '');
  for (let turn = 0; turn < 6; turn++) {
    said.push(`turn ${turn}`);
    // Without a key of its own, it may be said again.
    appendFileSync(file, `${prompt(1, turn, `turn ${turn}`)}\n{"type":"queue-operation","operation":"enqueue"}\n`);
    expect(await run(['import'], machines[turn % 2] as (typeof machines)[number])).toMatchObject({ exitCode: 0 });
  }
  const held = await events();
  expect(held.flatMap(({ payload }) => payload.text ?? [])).toEqual(said);
  expect(held).toHaveLength(2 * said.length);
  expect(new Set(held.map(({ sessionId }) => sessionId)).size).toBe(1);
});
