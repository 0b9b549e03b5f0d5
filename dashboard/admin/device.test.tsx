import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { DevicePurpose } from '../../contract/device.ts';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';

const NOW = '2026-11-22T12:00:00.000Z';
const dated = { createdAt: NOW, updatedAt: NOW };
const organization = { organizationId: 'org_1', name: 'Acme', status: 'active', ownerUserId: 'usr_1' } as const;

function serviceWithDevice(purpose: DevicePurpose = 'capture'): Service {
  const service = createService();
  service.answers.getPerson = () => ({
    userId: 'usr_1',
    emailVerified: true,
    role: 'owner',
    organization: { ...organization, ...dated },
  });
  service.answers.getDeviceSignIn = () => ({
    hostname: 'workbench',
    platform: 'linux',
    serviceCliVersion: '1.0.0',
    address: '192.0.2.1',
    purpose,
    status: 'pending',
    createdAt: NOW,
    expiresAt: NOW,
  });
  return service;
}

const confirm = () => page.getByRole('button', { name: 'Sign in this machine' });

test('a code from a link can be confirmed once the person has typed its end from the terminal', async () => {
  await show('/device?code=ABCD-EFGH', serviceWithDevice());
  const ending = page.getByLabelText(/last four characters/);
  await expect.element(ending).toBeVisible();
  expect(document.body.textContent).not.toContain('EFGH');
  await expect.element(confirm()).toBeDisabled();
  await ending.fill('wxyz');
  await expect.poll(() => page.getByRole('alert').query()?.textContent).toContain('The link is for another code.');
  await expect.element(confirm()).toBeDisabled();
  await ending.fill('efgh');
  await expect.element(confirm()).toBeEnabled();
});

test('a code that the person typed on the page does not have to be typed again', async () => {
  await show('/device', serviceWithDevice());
  await page.getByLabelText('Code in the terminal').fill('abcd-efgh');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect.element(page.getByText('ABCD-EFGH')).toBeVisible();
  await expect.element(confirm()).toBeEnabled();
});

test('a machine that wants to read says so, and asks for no plane', async () => {
  await show('/device?code=ABCD-EFGH', serviceWithDevice('reading'));
  await expect.element(page.getByText(/read every session that you may see, for 15 minutes/)).toBeVisible();
  await expect.element(page.getByText(/wants to read the sessions of your organization/)).toBeVisible();
  expect(page.getByRole('button', { name: 'Let this machine read' }).query()).not.toBeNull();
  expect(confirm().query()).toBeNull();
  expect(document.body.textContent).not.toContain('secret of its own');
});
