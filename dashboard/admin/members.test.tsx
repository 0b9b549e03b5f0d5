import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const NOW = '2026-11-22T12:00:00.000Z';
const dated = { createdAt: NOW, updatedAt: NOW };

function serviceWithSecrets(issuedByBen: number) {
  const service = createService();
  const asked: string[] = [];
  const member = (userId: string, role: 'owner' | 'admin') => ({
    organizationId: 'org_1',
    userId,
    email: `${userId}@example.com`,
    role,
    status: 'active' as const,
    ...dated,
  });
  const secret = (index: number, createdBy: string) => ({
    secretId: `sec_${createdBy}_${index}`,
    organizationId: 'org_1',
    secretEnvironment: 'live' as const,
    prefix: 'sk_live_abcd',
    lastFour: 'wxyz',
    status: 'active' as const,
    createdBy,
    ...dated,
  });
  service.answers.listMembers = () => ({ users: [member('usr_1', 'owner'), member('usr_2', 'admin')] });
  service.answers.listSecrets = () => ({
    secrets: [
      secret(0, 'usr_1'),
      { ...secret(1, 'usr_2'), status: 'revoked' as const },
      ...Array.from({ length: issuedByBen }, (_, index) => secret(index + 2, 'usr_2')),
    ],
  });
  service.answers.removeMember = ({ userId: _, ...query }) => {
    asked.push(Object.values(query).join(' '));
    return { user: member('usr_2', 'admin') };
  };
  return { service, asked };
}

async function openDialog(issuedByBen: number) {
  const { service, asked } = serviceWithSecrets(issuedByBen);
  await show('/members', service);
  await page.getByRole('button', { name: 'Remove usr_2@example.com' }).click();
  const remove = () => page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  return { asked, remove };
}

test('removing a member revokes the secrets they issued unless the admin clears the checkbox', async () => {
  const { asked, remove } = await openDialog(3);
  const box = page.getByRole('checkbox', { name: /Revoke the secrets they issued or have on their machines/ });
  await expect.element(box).toBeChecked();
  await box.click();
  await remove();
  await expect.poll(() => asked).toEqual(['keep']);
});

test('removing a member names the machines set up with their secrets and revokes them on request', async () => {
  const { service } = serviceWithSecrets(1);
  const revoked: string[] = [];
  const environment = (environmentId: string, hostname: string) => ({
    ...{ environmentId, hostname, organizationId: 'org_1', platform: 'linux' as const, status: 'active' as const },
    ...{ serviceCliVersion: '0.1.0', lastSeenAt: NOW, ...dated },
  });
  const health = (environmentId: string, secretId: string) => ({
    ...{ environmentId, secretIds: [secretId], isOutdated: false, states: [] },
  });
  service.answers.listEnvironments = () => ({
    environments: [environment('env_1', 'ada-mbp'), environment('env_2', 'ben-linux')],
  });
  service.answers.listMachineHealth = () => ({
    machines: [health('env_1', 'sec_usr_1_0'), health('env_2', 'sec_usr_2_2')],
  });
  service.answers.revokeEnvironment = ({ environmentId = '' }) => {
    revoked.push(environmentId);
    return { environment: { ...environment(environmentId, ''), status: 'revoked' as const } };
  };
  const { address } = await show('/members', service);
  await page.getByRole('button', { name: 'Remove usr_2@example.com' }).click();
  const box = page.getByRole('checkbox', { name: /Revoke ben-linux for good/ });
  await expect.element(box).not.toBeChecked();
  await box.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await expect.poll(() => revoked).toEqual(['env_2']);

  await page.getByRole('link', { name: 'usr_2@example.com' }).click();
  await expect.poll(address).toBe('/members/usr_2');
  const machines = page.getByRole('region', { name: 'Machines' });
  await expect.poll(() => machines.query()?.textContent).toContain('ben-linux');
  expect(machines.element().textContent).not.toContain('ada-mbp');
});

test('a removed member sees that the organization removed them', async () => {
  const { service } = serviceWithSecrets(0);
  const { close } = await show('/members', service);
  await expect.element(page.getByRole('heading', { name: 'Members' })).toBeVisible();
  await close();
  service.answers.getPerson = () => ({ userId: 'usr_1', emailVerified: true });
  await show('/', service);
  await expect.poll(() => document.body.textContent).toContain('You are no longer a member of Acme.');
});

test('invitations that failed to load can be retried', async () => {
  const { service } = serviceWithSecrets(0);
  await show('/members', service);
  await expect.element(page.getByRole('alert')).toBeVisible();
  service.answers.listInvitations = () => ({ invitations: [] });
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.element(page.getByRole('alert')).not.toBeInTheDocument();
});

test('an invitation that no mail server sends says where its mail waits', async () => {
  const { service } = serviceWithSecrets(0);
  const invitation = { userId: 'usr_2', email: 'usr_2@example.com', role: 'admin' as const, mailedAt: NOW };
  service.answers.listInvitations = () => ({ invitations: [{ ...invitation, isInOutbox: true }] });
  const { close } = await show('/members', service);
  await expect.element(page.getByText(/No mail is sent, because the service has no mail server/)).toBeVisible();
  await close();
  service.answers.listInvitations = () => ({ invitations: [invitation] });
  await show('/members', service);
  await expect.element(page.getByRole('heading', { name: 'Members' })).toBeVisible();
  await expect.element(page.getByText(/No mail is sent/)).not.toBeInTheDocument();
});

test('removing a member who issued one secret requests its revocation', async () => {
  const { asked, remove } = await openDialog(1);
  await expect.element(page.getByRole('checkbox', { name: /Revoke the secrets they issued/ })).toBeChecked();
  await remove();
  await expect.poll(() => asked).toEqual(['revoke']);
});

test('removing a member asks whether to keep, hand over or delete their machines and sessions', async () => {
  const { asked, remove } = await openDialog(1);
  const option = (name: RegExp) => page.getByRole('radio', { name });
  await expect.element(option(/^Keep/)).toBeChecked();
  await option(/^Hand over/).click();
  await expect.element(page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true })).toBeDisabled();
  const successor = page.getByRole('combobox', { name: 'Hand over to' });
  expect(successor.element().textContent).not.toContain('usr_2@');
  await successor.selectOptions('usr_1@example.com');
  await remove();
  await expect.poll(() => asked).toEqual(['revoke handOver usr_1']);
});

test('the sessions of a removed member are deleted if the admin chooses so', async () => {
  const { asked, remove } = await openDialog(0);
  await page.getByRole('radio', { name: /^Delete/ }).click();
  await remove();
  await expect.poll(() => asked).toEqual(['revoke delete']);
});
