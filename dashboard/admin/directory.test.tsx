import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { Directory } from '../../contract/directory.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const TOKEN = { tokenId: 'dit_1', lastFour: 'wxyz', createdBy: 'usr_1', createdAt: '2026-11-21T09:00:00.000Z' };
const button = (name: string) => page.getByRole('button', { name, exact: true });

test('an owner issues the token of a directory, copies it once, and revokes it', async () => {
  const service = createService();
  let directory: Directory = { baseUrl: 'https://capture.example.com/scim/v2' };
  service.answers.getDirectory = () => directory;
  service.answers.issueDirectoryToken = () => {
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
  await expect.element(button('Replace the token')).toBeVisible();
  await button('Revoke the token').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect.element(button('Issue a token')).toBeVisible();
  expect(page.getByText('scim_shown-once').query()).toBeNull();
});
