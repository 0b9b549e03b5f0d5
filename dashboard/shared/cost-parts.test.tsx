import { afterEach, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { SessionFacts } from '../../contract/review.ts';
import { sessionRow } from '../test/rows.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

afterEach(() => page.viewport(1280, 800));

const row = (more: Partial<SessionFacts['usage'][number]>): SessionFacts['usage'][number] => ({
  ...{ day: '2026-11-20', model: 'claude-opus-4-6', terms: '', inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 },
  ...{ cacheWrite1hTokens: 0, outputTokens: 0, webSearches: 0 },
  price: { input: 5, cached: 0.5, cacheWrite: 6.25, cacheWrite1h: 10, output: 25, webSearch: 10 },
  ...more,
});

const USAGE = [
  row({ inputTokens: 1_600_000, cachedTokens: 400_000, cacheWriteTokens: 200_000, cacheWrite1hTokens: 100_000 }),
  row({ day: '2026-11-21', outputTokens: 10_000, webSearches: 100 }),
  row({
    terms: 'fast',
    inputTokens: 10_000,
    price: { input: 30, cached: 3, cacheWrite: 37.5, cacheWrite1h: 60, output: 150 },
  }),
  row({
    ...{ model: 'gpt-5.4', terms: 'priority', unknownTerms: 'priority', above: 271_999, inputTokens: 300_000 },
    price: { input: 5, cached: 0.5, cacheWrite: 5, cacheWrite1h: 5, output: 22.5 },
  }),
  (({ price: _, ...unpriced }) => unpriced)(row({ model: 'nobody-knows', inputTokens: 12_000 })),
];

async function showList() {
  const given = sessionRow('ses_1');
  const one = { ...given, summary: { ...given.summary, cost: 10.3, inputTokens: 1_000, summarizedThrough: 1 } };
  const service = createService([], [one]);
  service.answers.getSessionFacts = () => ({
    ...{ summary: one.summary, pricesOf: '2026-11-28', usage: USAGE },
    ...{ branches: [], tools: [], files: [], commands: [], milestones: [], turns: [], related: [] },
  });
  return show('/sessions', service);
}

const explanation = () => page.getByRole('dialog', { name: 'How the cost is made' });
const cost = () => page.getByRole('button', { name: '$10.30' });
const lines = () =>
  [...document.querySelectorAll('.cost-parts tr, .cost-parts p')].map(({ textContent }) =>
    textContent?.replaceAll(/\s+/g, ' ').trim(),
  );

test('the cost of a session in the list shows its parts, the applied rules and what has no price', async () => {
  const { address } = await showList();
  await cost().click();
  await expect.element(explanation()).toBeVisible();
  await expect
    .poll(lines)
    .toEqual([
      'claude-opus-4-6$8.0750',
      '1,000,000input × $5 / 1M$5.0000',
      '400,000read from a cache × $0.5 / 1M$0.2000',
      '100,000cache for 5 minutes × $6.25 / 1M$0.6250',
      '100,000cache for one hour × $10 / 1M$1.0000',
      '10,000output × $25 / 1M$0.2500',
      '100web searches × $10 / 1,000$1.0000',
      'claude-opus-4-6 · fast mode$0.3000',
      '10,000input × $30 / 1M$0.3000',
      'gpt-5.4 · priority: price unknown, the normal one is taken · prompts from 272,000 tokens on$1.5000',
      '300,000input × $5 / 1M$1.5000',
      '12.0k tokens of models without a known price are not included.',
      'List prices of 28 Nov 2026 in US dollars, not your bill.',
    ]);
  // A press inside does not open the session.
  await explanation().click();
  expect(address()).toBe('/sessions');
});

test('the parts of a cost are reached with the keyboard, and Escape closes them and keeps the focus', async () => {
  await showList();
  await expect.element(cost()).toBeVisible();
  await userEvent.keyboard('j');
  (cost().element() as HTMLElement).focus();
  await userEvent.keyboard('{Enter}');
  await expect.element(explanation()).toBeVisible();
  await expect.element(cost()).toHaveAttribute('aria-expanded', 'true');
  await userEvent.keyboard('{Escape}');
  await expect.element(explanation()).not.toBeInTheDocument();
  expect(document.activeElement).toBe(cost().element());
});

test.each([
  [390, 700],
  [1280, 800],
])('the parts of a cost are within a window of %i × %i pixels', async (width, height) => {
  await page.viewport(width, height);
  await showList();
  await cost().click();
  await expect.poll(lines).toHaveLength(13);
  const { left, right, top, bottom } = explanation().element().getBoundingClientRect();
  expect([left >= 0, right <= width, top >= 0, bottom <= height]).toEqual([true, true, true, true]);
});
