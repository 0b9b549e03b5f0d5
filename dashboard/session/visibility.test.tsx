import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { Visibility } from '../../contract/session.ts';
import { sessionRow } from '../test/rows.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

function serviceWith(visibility: Visibility, mayChangeVisibility = true) {
  const row = sessionRow('ses_1');
  const known = { ...row, session: { ...row.session, visibility, mayChangeVisibility } };
  return createService([['user.message', { text: 'Hello' }]], [known]);
}

async function openDialog(service: ReturnType<typeof serviceWith>) {
  await show('/sessions/ses_1', service);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Who may see it…' }).click();
}
const option = (name: RegExp) => page.getByRole('radio', { name });
const save = () => page.getByRole('button', { name: 'Save' });

test('a session that not every member may read is marked, on its page and in the list', async () => {
  const { close } = await show('/sessions/ses_1', serviceWith('private'));
  await expect.element(page.getByTitle('Only its person sees this session')).toHaveTextContent('private');
  await close();
  await show('/sessions', serviceWith('facts'));
  await expect.element(page.getByTitle(/others see its facts/)).toHaveTextContent('facts');
});

test('the person of a session chooses who may see it', async () => {
  const service = serviceWith('team');
  let isChanged = false;
  service.answers.changeVisibility = () => {
    isChanged = true;
    return { visibility: 'private' };
  };
  await openDialog(service);
  await expect.element(option(/^Team/)).toBeChecked();
  await expect.element(save()).toBeDisabled();
  await option(/^Private/).click();
  await save().click();
  await expect.poll(() => isChanged).toBe(true);
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
});

test('who may not change it is not asked', async () => {
  await show('/sessions/ses_1', serviceWith('facts', false));
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await expect.element(page.getByRole('menuitem', { name: 'Keyboard shortcuts' })).toBeVisible();
  await expect.element(page.getByRole('menuitem', { name: 'Who may see it…' })).not.toBeInTheDocument();
});

test('who may change it no more is told why', async () => {
  await openDialog(serviceWith('team'));
  await option(/^Facts/).click();
  await save().click();
  await expect.poll(() => page.getByRole('alert').query()?.textContent).toMatch(/^Not found\./);
});
