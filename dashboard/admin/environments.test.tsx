import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { Environment } from '../../contract/environment.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const NOW = '2026-11-22T12:00:00.000Z';
const dated = { createdAt: NOW, updatedAt: NOW };
const button = (name: string) => page.getByRole('button', { name });
const row = (name: RegExp) => page.getByRole('row', { name });

function serviceWithMachines(role: 'owner' | 'member', machines: Partial<Environment>[]) {
  const service = createService();
  const known = service.answers.getPerson;
  service.answers.getPerson = (given) => ({ ...known?.(given), role }) as never;
  const member = (userId: string) => ({
    ...{ organizationId: 'org_1', userId, email: `${userId}@example.com`, role, status: 'active' as const, ...dated },
  });
  service.answers.listMembers = () => ({ users: [member('usr_1'), member('usr_2')] });
  service.answers.listMachineHealth = () => ({ machines: [] });
  const rows = machines.map(
    (machine, index): Environment => ({
      ...{ environmentId: `env_${index}`, hostname: `box-${index}`, organizationId: 'org_1', platform: 'linux' },
      ...{ status: 'active', serviceCliVersion: '0.1.0', lastSeenAt: NOW, ...dated, ...machine },
    }),
  );
  service.answers.listEnvironments = () => ({ environments: rows });
  /** These answers do not see the body with the person of the machine, so each test sets the first machine afterwards. */
  const becomes = (change: Partial<Environment>) => {
    service.answers.setMachinePerson = () => {
      Object.assign(rows[0] as Environment, change);
      return { environment: rows[0] as Environment };
    };
  };
  return { service, becomes };
}

test('a member claims an unclaimed machine and sees that an admin has to agree', async () => {
  const { service, becomes } = serviceWithMachines('member', [{}, { userId: 'usr_2' }, { userId: 'usr_gone' }]);
  becomes({ claimedBy: 'usr_1' });
  await show('/environments', service);
  await expect.element(row(/box-1.*usr_2\b/)).toBeVisible();
  await expect.element(row(/box-2.*a former member/)).toBeVisible();
  await expect.element(row(/box-0.*unclaimed/)).toBeVisible();
  await button('This is mine: box-0').click();
  await expect.element(row(/box-0.*claimed by usr_1, an admin has to agree/)).toBeVisible();
  await expect.element(button('Not mine: box-0')).toBeVisible();
  expect(page.getByRole('button', { name: /Agree|Change person|This is mine/ }).elements()).toEqual([]);
});

test('an admin confirms a claim with one click', async () => {
  const { service, becomes } = serviceWithMachines('owner', [{ claimedBy: 'usr_2' }]);
  becomes({ claimedBy: undefined as never, userId: 'usr_2' });
  await show('/environments', service);
  await button('Agree: box-0').click();
  await expect.element(row(/box-0.*usr_2\b/)).toBeVisible();
  await expect.element(button('Agree: box-0')).not.toBeInTheDocument();
});

test('an admin assigns a machine to another person', async () => {
  const { service, becomes } = serviceWithMachines('owner', [{ userId: 'usr_1' }]);
  becomes({ userId: 'usr_2' });
  await show('/environments', service);
  await button('Change person: box-0').click();
  const save = page.getByRole('dialog').getByRole('button', { name: 'Save' });
  await expect.element(save).toBeDisabled();
  await page.getByRole('combobox', { name: 'Person' }).selectOptions('usr_2@example.com');
  await save.click();
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
  await expect.element(row(/box-0.*usr_2\b/)).toBeVisible();
});

test('a failed claim shows its reason beside the machine', async () => {
  const { service } = serviceWithMachines('member', [{}]);
  await show('/environments', service);
  await button('This is mine: box-0').click();
  await expect.element(page.getByRole('alert')).toHaveTextContent('There is nothing here.');
});

test('a machine without a report says so and explains why', async () => {
  const { service } = serviceWithMachines('owner', [{}]);
  await show('/environments', service);
  await expect.element(row(/box-0.*no report yet/)).toBeVisible();
  await expect
    .element(page.getByText('no report yet'))
    .toHaveAttribute('title', expect.stringMatching(/reports while capture runs/));
});
