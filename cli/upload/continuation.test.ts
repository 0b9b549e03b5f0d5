import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '../test/folder.ts';
import { startRealService } from '../test/real-service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

test('a session that is resumed after its completion gets the title and beginning of its own part', async () => {
  const { home, run, service, events, options } = await startRealService();
  const path = join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`);
  const resumed = '2026-03-02T10:00:00.000Z';
  write(path, `${prompt(1, 1, 'begin the work')}\n`);
  await run('import');
  const [first] = await events();
  await service.call('POST', `/v1/sessions/${first?.sessionId}/complete`, { as: options.secret });
  appendFileSync(path, `${prompt(1, 2, 'go on with the tests', { timestamp: resumed })}\n`);
  await run('import');
  const rows = await service.store.db.selectFrom('sessions').select(['title', 'started_at']).execute();
  const found = rows.map(({ title, started_at: at }) => [title, new Date(at as string | number).toISOString()]);
  expect(new Map(found as [string, string][]).get('go on with the tests')).toBe(resumed);
  expect(found.map(([title]) => title).sort()).toEqual(['begin the work', 'go on with the tests']);
});
