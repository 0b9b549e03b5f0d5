import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

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
