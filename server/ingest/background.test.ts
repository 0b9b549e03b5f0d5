import { expect, test } from 'vitest';
import { createBackground } from './background.ts';

test('what waits for one group does not make another wait, nor takes its room', async () => {
  const background = createBackground({ atOnce: 2, onError: (error) => expect.unreachable(String(error)) });
  const done: string[] = [];
  const run = (key: string, group: string) => background.run(key, async () => void done.push(group), group);
  const many = Array.from({ length: 2_000 }, (_, n) => run(`theirs ${n}`, 'theirs'));
  await Promise.all([run('ours 1', 'ours'), run('ours 2', 'ours')]);
  expect(done.filter((group) => group === 'ours')).toHaveLength(2);
  expect(done.length).toBeLessThan(50);
  await Promise.all(many);
  expect(done).toHaveLength(2 + 1_000 + 2);
});
