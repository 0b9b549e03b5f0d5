import { afterEach, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { Given } from '../session/model/test/events.ts';
import { sessionRow } from '../test/rows.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { wordsOf } from '../test/timeline.ts';

afterEach(() => page.viewport(1280, 800));

const press = (keys: string) => userEvent.keyboard(keys);
const preview = () => page.getByRole('complementary', { name: 'Preview' }).query();

test.each(['{Escape}', ' '])('if a session is previewed from the start, %j closes the preview', async (key) => {
  await page.viewport(2400, 1000);
  await show('/sessions', createService([], [sessionRow('ses_1'), sessionRow('ses_2')]));
  await expect.poll(preview).not.toBeNull();
  await press('j');
  await expect.poll(() => (document.activeElement as HTMLElement).dataset.session).toBe('ses_1');
  await press(key);
  await expect.poll(preview).toBeNull();
  await press('j');
  await expect.poll(() => (document.activeElement as HTMLElement).dataset.session).toBe('ses_2');
  expect(preview()).toBeNull();
});

test('two sessions are chosen for a comparison in the menus of their rows', async () => {
  const { address } = await show('/sessions', createService([], [sessionRow('ses_1'), sessionRow('ses_2')]));
  const choose = async (row: number, item: RegExp) => {
    await page.getByRole('button', { name: 'More' }).nth(row).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await choose(0, /^Compare with…/);
  await expect
    .poll(() => wordsOf(document.querySelector('main div[role="status"]') ?? undefined))
    .toContain('Comparing');
  await choose(1, /^Compare with “/);
  await expect.poll(address).toBe('/compare?one=ses_1&other=ses_2');
});

test('a session is not compared with itself, even after the list is read again; Escape cancels the choice', async () => {
  const service = createService([], [sessionRow('ses_1'), sessionRow('ses_2')]);
  // Wide enough for the number of events.
  await page.viewport(1600, 900);
  await show('/sessions', service);
  const open = () => page.getByRole('button', { name: 'More' }).first().click();
  const state = () => wordsOf(document.querySelector('main div[role="status"]') ?? undefined);
  await open();
  await page.getByRole('menuitem', { name: /^Compare with…/ }).click();
  await expect.poll(state).toContain('Comparing');
  service.append(...Array.from({ length: 77 }, (): Given => ['user.message', { text: 'Go on.' }]));
  await expect.poll(() => wordsOf(document.querySelector('[data-session]') ?? undefined)).toContain('77');
  await open();
  await expect.element(page.getByRole('menuitem', { name: /^Compare with…/ })).toBeVisible();
  await press('{Escape}');
  await expect.poll(() => page.getByRole('menuitem').query()).toBeNull();
  expect(state()).toContain('Comparing');
  await press('{Escape}');
  await expect.poll(state).not.toContain('Comparing');
});

test('the menu of common filters stays open and shows how many sessions each has', async () => {
  const service = createService([], [sessionRow('ses_1')]);
  const none = { prompts: 0, toolCalls: 0, failures: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
  service.answers.getUsage = ({ from = '', to = '' }) => ({
    ...{ from, to, total: { sessions: 41, ...none }, days: [], tools: [], hours: [], attention: [], running: [] },
    groups: [{ dimension: 'agent', value: 'codex', sessions: 41, ...none, days: [] }],
    ...{ machines: [], pricesOf: '2026-11-22', unpricedTokens: 0 },
  });
  const { address } = await show('/sessions', service);
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Codex 41' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'ended red' }).click();
  await expect.poll(() => new URLSearchParams(address().split('?')[1]).get('q')).toBe('agent:codex tests:red');
  await page.getByRole('menuitemcheckbox', { name: 'Codex 41' }).click();
  await expect.poll(() => new URLSearchParams(address().split('?')[1]).get('q')).toBe('tests:red');
});

test('a search goes on by itself while its pages are short, says how far it is, and says that nothing matches only at its end', async () => {
  const service = createService([], []);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const asked: (string | undefined)[] = [];
  service.answers.searchSessions = ({ cursor }) => {
    asked.push(cursor);
    const searched = asked.length * 20;
    if (cursor === 'b') return answerAfter(released, { sessions: [sessionRow('ses_9')], nextCursor: 'c' });
    if (cursor === 'c') return { sessions: [], nextCursor: null };
    return { sessions: [], nextCursor: cursor === 'a' ? 'b' : 'a', progress: { searched, sessions: 78 } };
  };
  await show('/sessions?q=go', service);
  const state = () => wordsOf(document.querySelector('main div[role="status"]') ?? undefined);
  await expect.poll(state).toBe('Searched 40 of 78 sessions Searching…');
  expect(page.getByText('No matching sessions').query()).toBeNull();
  release();
  await expect.poll(() => document.querySelector('[data-session]')).not.toBeNull();
  await expect.poll(state).toContain('1 session');
  expect(asked).toEqual([undefined, 'a', 'b', 'c']);
});

test('a search says that nothing matches after its last page', async () => {
  const service = createService([], []);
  service.answers.searchSessions = ({ cursor }) => ({ sessions: [], nextCursor: cursor ? null : 'a' });
  await show('/sessions?q=go', service);
  await expect.element(page.getByText('No matching sessions')).toBeVisible();
});

/** An answer whose body arrives later. */
const answerAfter = (released: Promise<void>, body: object) =>
  new Response(
    new ReadableStream({
      async start(stream) {
        await released;
        stream.enqueue(new TextEncoder().encode(JSON.stringify(body)));
        stream.close();
      },
    }),
    { headers: { 'content-type': 'application/json' } },
  ) as never;
