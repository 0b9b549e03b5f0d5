import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';

function watch(isTTY: boolean) {
  const written: string[] = [];
  let time = 0;
  const progress = createProgress({ isTTY, write: (text) => written.push(text) }, () => time);
  return {
    written,
    showAt(ms: number, done: number): void {
      time = ms;
      progress.show({ done, total: 1000, text: `${done} done` });
    },
  };
}

test('the remaining time is shown once it can be estimated', () => {
  const { written, showAt } = watch(false);
  for (const [ms, done] of [
    [10_000, 10],
    [20_000, 100],
    [60_000, 900],
    [70_000, 1000],
  ] as const)
    showAt(ms, done);
  expect(written).toEqual(['10 done\n', '100 done, 3 min left\n', '900 done, 7 s left\n', '1000 done\n']);
});

test('a terminal shows a bar that is overwritten at most ten times a second', () => {
  const { written, showAt } = watch(true);
  for (let ms = 0; ms <= 1000; ms += 10) showAt(ms, ms);
  expect(written).toHaveLength(10);
  expect(written.at(4)).toBe(`\r\u001b[K${'█'.repeat(12)}${'░'.repeat(12)} 500 done`);
});

test('a line never wraps, however narrow the terminal', () => {
  const written: string[] = [];
  let time = 0;
  const progress = createProgress({ isTTY: true, columns: 40, write: (text) => written.push(text) }, () => time);
  time = 200;
  progress.show({ done: 1, total: 2, text: 'read 310.1 MB of 521.5 MB, sent 264,000 events' });
  expect(written).toEqual([`\r\u001b[K${'█'.repeat(12)}${'░'.repeat(12)} read 310.1 MB `]);
});
