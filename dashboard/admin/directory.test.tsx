import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { Directory } from '../../contract/directory.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const TOKEN = {
  tokenId: 'dit_1',
  lastFour: 'wxyz',
  createdBy: 'usr_1',
  createdAt: '2026-11-21T09:00:00.000Z',
  issuerIsOwner: true,
};
const member = (userId: string) => ({
  organizationId: 'org_1',
  userId,
  email: `${userId}@example.com`,
  role: 'owner' as const,
  status: 'active' as const,
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:00:00.000Z',
});
const button = (name: string) => page.getByRole('button', { name, exact: true });

test('an owner issues the token of a directory, copies it once, and revokes it', async () => {
  const service = createService();
  let directory: Directory = { baseUrl: 'https://capture.example.com/scim/v2' };
  service.answers.getDirectory = () => directory;
  let issued = 0;
  service.answers.issueDirectoryToken = () => {
    issued++;
    directory = { ...directory, token: TOKEN };
    return { ...directory, value: 'scim_shown-once' };
  };
  service.answers.revokeDirectoryToken = () => {
    directory = { baseUrl: directory.baseUrl };
    return directory;
  };
  await show('/members', service);
  await expect.element(page.getByText('https://capture.example.com/scim/v2')).toBeVisible();
  await button('Issue a token').click();
  await expect.element(page.getByText('scim_shown-once')).toBeVisible();
  await button('Replace the token').click();
  const dialog = page.getByRole('dialog');
  await expect.element(dialog.getByText(/stops working at once/)).toBeVisible();
  expect(issued).toBe(1);
  await dialog.getByRole('button', { name: 'Replace', exact: true }).click();
  await expect.element(dialog).not.toBeInTheDocument();
  expect(issued).toBe(2);
  await button('Revoke the token').click();
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect.element(button('Issue a token')).toBeVisible();
  expect(page.getByText('scim_shown-once').query()).toBeNull();
});

test('the removal of the person who issued the token revokes it too, unless the admin keeps it', async () => {
  const service = createService();
  service.answers.listMembers = () => ({ users: [member('usr_1'), member('usr_2')] });
  service.answers.getDirectory = () => ({
    baseUrl: 'https://capture.example.com/scim/v2',
    token: { ...TOKEN, createdBy: 'usr_2' },
  });
  const queries: unknown[] = [];
  service.answers.removeMember = ({ userId: _, ...query }) => {
    queries.push(query);
    return { user: member('usr_2') };
  };
  await show('/members', service);
  const dialog = page.getByRole('dialog');
  const box = dialog.getByRole('checkbox', { name: /Revoke the token of the directory/ });
  const remove = () => dialog.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('button', { name: 'Remove usr_2@example.com' }).click();
  await expect.element(box).toBeChecked();
  await remove();
  await expect.element(dialog).not.toBeInTheDocument();
  await page.getByRole('button', { name: 'Remove usr_2@example.com' }).click();
  await box.click();
  await remove();
  await expect.poll(() => queries).toEqual([{ secrets: 'revoke' }, { secrets: 'revoke', directory: 'keep' }]);
});

test('an owner is told that the person who issued the token is no owner any more', async () => {
  const service = createService();
  service.answers.getDirectory = () => ({
    baseUrl: 'https://capture.example.com/scim/v2',
    token: { ...TOKEN, issuerIsOwner: false },
  });
  await show('/members', service);
  await expect.element(page.getByText(/is no owner any more/)).toBeVisible();
});
