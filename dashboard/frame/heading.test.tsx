import { beforeEach, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { sessionRow } from '../test/rows.ts';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';

let service: Service;
beforeEach(() => {
  service = createService([], [sessionRow('ses_1'), sessionRow('ses_2')]);
});

const focused = () => document.activeElement?.closest('h1, [data-session], body')?.outerHTML.slice(0, 60);
const row = (sessionId: string) => document.querySelector<HTMLElement>(`[data-session="${sessionId}"]`);

test('a page that was opened from a list has the focus on its heading, and the way back leads to the row', async () => {
  const { back } = await show('/sessions', service);
  await expect.poll(() => row('ses_2')).toBeTruthy();
  expect(document.activeElement).toBe(document.body);
  row('ses_2')?.focus();
  await userEvent.keyboard('{Enter}');
  await expect.poll(focused).toMatch(/^<h1 /);
  expect(page.getByRole('heading', { level: 1 }).element()).toBe(document.activeElement);
  back();
  await expect.poll(() => document.activeElement === row('ses_2')).toBe(true);
});

test('a heading takes the focus from nothing, and a first page leaves it where the browser begins', async () => {
  await show('/sessions', service);
  await expect.element(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeVisible();
  expect(document.activeElement).toBe(document.body);
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Machines' });
  await link.click();
  await expect.element(page.getByRole('heading', { level: 1, name: 'Machines' })).toBeVisible();
  expect(document.activeElement).toBe(link.element());
});
