import { beforeEach, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { AddOns } from '../../contract/add-ons.ts';
import { memberRow } from '../test/rows.ts';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';

type AddOn = AddOns['addOns'][number];

const addOn = (kind: AddOn['kind'], name: string, more: Partial<AddOn> = {}): AddOn => ({
  ...{ kind, name, calls: 0, failures: 0, sessions: 0, listed: 0, people: 0, topPeople: [], agentIds: ['claude-code'] },
  ...more,
});

const used = { calls: 8, failures: 2, sessions: 3, people: 3, topPeople: ['usr_ada', 'usr_ben', 'usr_eve'] };
const ALL = [
  addOn('mcp', 'playwright', { ...used, lastUsedAt: new Date().toISOString() }),
  addOn('subagent', 'Explore', { calls: 1, sessions: 1, tokens: 12_000, cost: 0.42 }),
  addOn('skill', 'a\u202eb:<img src=x>', { calls: 1, sessions: 1 }),
  addOn('skill', 'seo', { listed: 5 }),
];

let service: Service;
let asked: Record<string, string>[];
beforeEach(() => {
  service = createService();
  const people = ['ada', 'ben', 'eve'].map((name) => memberRow(`usr_${name}`, `${name}@example.com`));
  service.answers.listMembers = () => ({ users: people });
  asked = [];
  service.answers.listAddOns = (given) => {
    asked.push(given);
    const { from = '', to = '', kind } = given;
    return { from, to, addOns: ALL.filter((one) => kind === undefined || one.kind === kind), isWhole: true };
  };
});

const textOf = (name: string) => page.getByRole('row', { name: new RegExp(name) }).query()?.textContent ?? '';

test('each add-on is listed with its known calls, failures, people and cost', async () => {
  await show('/add-ons?days=7', service);
  await expect.poll(() => textOf('playwright')).toMatch(/MCP server8.*2 · 25 %.*ada, ben, 1 more/);
  expect(textOf('playwright')).not.toContain('$');
  expect(textOf('Explore')).toMatch(/12\.0k\$0\.42/);
  expect(textOf('seo')).toMatch(/never.*5 sessions/);
  // It is known that nobody uses it, so the cell is empty and has no dash.
  expect(textOf('seo')).not.toContain('–');
  expect(textOf('playwright')).toContain('–');
});

test('people are counted if the policy hides their names', async () => {
  service.answers.listAddOns = ({ from = '', to = '' }) => {
    const addOns = [3, 1].map((people) => addOn('mcp', `of-${people}`, { ...used, people, topPeople: [] }));
    return { from, to, addOns, isWhole: true };
  };
  await show('/add-ons', service);
  await expect.poll(() => textOf('of-3')).toContain('3 people');
  expect(textOf('of-1')).toContain('1 person');
});

test('a name links to its sessions of the period; the name of an unused add-on is no link', async () => {
  await show('/add-ons?from=2026-11-01&to=2026-11-07', service);
  const link = page.getByRole('link', { name: 'playwright' });
  await expect.element(link).toBeVisible();
  const { searchParams } = new URL((link.element() as HTMLAnchorElement).href);
  expect(searchParams.get('q')).toBe('mcp:playwright after:2026-11-01T00:00Z before:2026-11-08T00:00Z');
  expect(page.getByRole('link', { name: 'seo' }).query()).toBeNull();
});

test('a hostile name is shown as text with visible hidden characters', async () => {
  await show('/add-ons', service);
  await expect.poll(() => textOf('img src')).toContain('<img src=x>');
  expect(document.querySelector('td img, th img')).toBeNull();
  expect(textOf('img src')).not.toContain('\u202e');
});

test('the chosen kind is part of the address', async () => {
  await show('/add-ons', service);
  await page.getByRole('button', { name: 'Skills' }).click();
  await expect.poll(() => asked.at(-1)?.kind).toBe('skill');
  await expect.poll(() => textOf('playwright')).toBe('');
  expect(textOf('seo')).toContain('never');
});

test('a period without add-ons shows an empty state', async () => {
  service.answers.listAddOns = ({ from = '', to = '' }) => ({ from, to, addOns: [], isWhole: true });
  await show('/add-ons', service);
  await expect.element(page.getByText('No add-ons in this period.')).toBeVisible();
});

test('date fields use the format of the page, and the format of the browser during typing', async () => {
  await show('/add-ons?from=2026-10-05&to=2026-11-03', service);
  const words = page.getByText('5 Oct 2026', { exact: true });
  await expect.element(words).toBeVisible();
  const field = page.getByLabelText('First day, UTC');
  await field.fill('2026-10-07');
  await expect.poll(() => asked.at(-1)?.from).toBe('2026-10-07');
  await expect.element(page.getByText('7 Oct 2026', { exact: true })).not.toBeVisible();
});
