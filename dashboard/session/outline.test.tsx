import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { current, expectAt, wordsOf } from '../test/timeline.ts';
import { call, type Given, result } from './model/test/events.ts';

test('a pull request is a link, but no other address is', async () => {
  const service = createService([['user.message', { text: 'Open a pull request' }]]);
  const facts = service.answers.getSessionFacts;
  const opened = (url: string) => ({
    sequence: 1,
    kind: 'pull_request' as const,
    text: 'Add a lock to the queue of the harbour so that no ship waits',
    url,
  });
  const milestones = [opened('https://git.example/o/r/pull/12'), opened('javascript:alert(1)//pull/13')];
  if (facts) service.answers.getSessionFacts = (given) => ({ ...facts(given), milestones });
  await show('/sessions/ses_1', service);
  const outline = page.getByRole('navigation', { name: 'Prompts' });
  const link = outline.getByRole('link', { name: 'Pull request #12 on git.example' });
  await expect.element(link).toHaveAttribute('href', 'https://git.example/o/r/pull/12');
  await expect.element(link).toHaveAttribute('rel', expect.stringContaining('noopener'));
  const rightOf = (element: Element) => element.getBoundingClientRect().right;
  expect(rightOf(link.element())).toBeLessThanOrEqual(rightOf(outline.element()));
  expect(outline.getByRole('link').elements()).toHaveLength(1);
  expect(outline.getByText(/^Add a lock/).elements()).toHaveLength(2);
});

test('a jump to a failed test run makes its line the current one, and its row says that the tests failed', async () => {
  const answers = (count: number): Given[] =>
    Array.from({ length: count }, (_, at) => ['assistant.message', { text: `${at} words `.repeat(50) }]);
  const run: Given[] = [call('a', 'Bash', { command: 'npm test | tail' }), result('a', { output: 'Tests  1 failed' })];
  const service = createService([['user.message', { text: 'Mend it' }], ...answers(10), ...run, ...answers(20)]);
  const facts = service.answers.getSessionFacts;
  const milestones = [
    { sequence: 9, kind: 'wait' as const, text: '', durationMs: 60_000 },
    { sequence: 13, kind: 'tests' as const, text: 'npm test', passed: false },
  ];
  if (facts) service.answers.getSessionFacts = (given) => ({ ...facts(given), milestones });
  await show('/sessions/ses_1', service);
  await page.getByRole('navigation', { name: 'Prompts' }).getByText('tests were red').click();
  await expectAt(12);
  await expect.poll(() => wordsOf(current())).toContain('tests failed');
  // The wait is among the rows above it that are in sight.
  await expect
    .poll(() => document.querySelector('[data-line="milestone"][aria-current]')?.textContent)
    .toBe('tests were red');
});
