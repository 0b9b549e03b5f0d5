import { expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { View } from '../../contract/view.ts';
import { sessionRow } from '../test/rows.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const NOW = '2026-11-22T12:00:00.000Z';
const view = (viewId: string, name: string, fields: Partial<View> = {}): View => ({
  viewId,
  name,
  search: { q: `agent:codex ${name}` },
  isShared: false,
  createdBy: 'usr_1',
  createdAt: NOW,
  updatedAt: NOW,
  ...fields,
});

const RED = view('viw_1', 'red', { isShared: true, createdBy: 'usr_2' });
const COSTLY = view('viw_2', 'costly', { search: { order: 'cost', secretEnvironment: 'all' } });

function serviceFor(role: 'owner' | 'member', views: View[]) {
  const service = createService([], [sessionRow('ses_1')]);
  const person = service.answers.getPerson?.({});
  service.answers.getPerson = () => ({ ...person, userId: 'usr_1', emailVerified: true, role });
  service.answers.listViews = () => ({ views });
  return service;
}

const items = () =>
  page
    .getByRole('menuitem')
    .all()
    .map((item) => item.element().textContent);
const open = (name: string) => page.getByRole('button', { name, exact: true }).click();

test('own and shared views are listed apart, and each opens its search', async () => {
  const { address } = await show('/sessions', serviceFor('member', [RED, COSTLY]));
  await open('Views');
  await expect.poll(items).toEqual(['red', 'costly', 'Save this view…']);
  expect(
    page
      .getByRole('menu')
      .getByRole('group')
      .all()
      .map((group) => group.element().textContent),
  ).toEqual(['Shared in Acmered', 'Only youcostly']);
  await page.getByRole('menuitem', { name: 'costly' }).click();
  await expect.poll(address).toBe('/sessions?plane=all&order=cost');
  await open('costly');
  await expect.poll(items).toEqual(['red', 'costly', 'Edit costly…', 'Delete costly…']);
});

test('a shared view can be opened by everyone and changed only by admins', async () => {
  const address = '/sessions?q=agent%3Acodex+red';
  const member = await show(address, serviceFor('member', [RED]));
  await open('red');
  await expect.poll(items).toEqual(['red']);
  member.close();
  await show(address, serviceFor('owner', [RED]));
  await open('red');
  await page.getByRole('menuitem', { name: 'Edit red…' }).click();
  await expect.element(page.getByRole('textbox', { name: 'Name' })).toHaveValue('red');
  // An admin who stopped sharing it could not see it any more.
  await expect.element(page.getByRole('checkbox', { name: 'Share with everyone in Acme' })).toBeDisabled();
});

test('a new view with the name of an own view says that it replaces that one', async () => {
  await show('/sessions?q=flaky', serviceFor('member', [RED, COSTLY]));
  await open('Views');
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('red');
  await expect.element(page.getByRole('button', { name: 'Save' })).toBeVisible();
  await page.getByRole('textbox', { name: 'Name' }).fill('costly');
  await expect.element(page.getByText('This replaces your view of the same name.')).toBeVisible();
  await expect.element(page.getByRole('button', { name: 'Replace' })).toBeVisible();
});

test('a shared view stays shared after it is replaced', async () => {
  const service = serviceFor('member', [{ ...COSTLY, isShared: true }]);
  const app = service.app();
  const bodies: object[] = [];
  const { changeView } = app.api;
  app.api.changeView = (given) => {
    bodies.push(given.body);
    return changeView(given);
  };
  await show('/sessions?q=flaky', { ...service, app: () => app });
  await open('Views');
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('costly');
  await expect.element(page.getByRole('checkbox', { name: 'Share with everyone in Acme' })).toBeChecked();
  await page.getByRole('button', { name: 'Replace' }).click();
  await expect.poll(() => bodies).toEqual([{ name: 'costly', search: { q: 'flaky' }, isShared: true }]);
});

test('a view cannot be saved before the views are loaded', async () => {
  const service = serviceFor('member', [COSTLY]);
  const app = service.app();
  const { listViews } = app.api;
  const told = Promise.withResolvers<void>();
  app.api.listViews = (given) => told.promise.then(() => listViews(given));
  await show('/sessions?q=flaky', { ...service, app: () => app });
  await open('Views');
  await expect.element(page.getByText('Loading…')).toBeVisible();
  expect(items()).toEqual([]);
  told.resolve();
  await expect.poll(items).toEqual(['costly', 'Save this view…']);
});

test('views that failed to load are loaded again when the menu opens', async () => {
  const service = serviceFor('member', [COSTLY]);
  const { listViews } = service.answers;
  delete service.answers.listViews;
  await show('/sessions?q=flaky', service);
  await open('Views');
  await expect.element(page.getByText('The saved views could not be loaded.')).toBeVisible();
  expect(items()).toEqual([]);
  await userEvent.keyboard('{Escape}');
  Object.assign(service.answers, { listViews });
  await open('Views');
  await expect.poll(items).toEqual(['costly', 'Save this view…']);
});
