import { expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { DEFAULT_POLICY, type ShownPolicy } from '../../contract/policy.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const SHOWN: ShownPolicy = { ...DEFAULT_POLICY, retentionBounds: {} };

const option = (name: RegExp) => page.getByRole('radio', { name });
const save = () => page.getByRole('button', { name: 'Save' });

function serviceWithPolicy() {
  const service = createService();
  const stored: { policy: ShownPolicy } = { policy: SHOWN };
  service.answers.getPolicy = () => stored.policy;
  service.answers.replacePolicy = () => {
    stored.policy = { ...stored.policy, signIn: 'admins' };
    return stored.policy;
  };
  return service;
}

test('an owner chooses who may sign in a machine and sees that it was saved', async () => {
  await show('/policy', serviceWithPolicy());
  await expect.element(option(/^Every member/)).toBeChecked();
  await expect.element(save()).toBeDisabled();
  await option(/^Owners and admins/).click();
  await save().click();
  await expect.element(page.getByRole('status').filter({ hasText: 'Saved.' })).toBeVisible();
  await expect.element(option(/^Owners and admins/)).toBeChecked();
  await expect.element(save()).toBeDisabled();
});

test('a choice that failed to save stays selected and shows the reason', async () => {
  const service = serviceWithPolicy();
  delete service.answers.replacePolicy;
  await show('/policy', service);
  await option(/^Owners and admins/).click();
  await save().click();
  await expect.element(page.getByRole('alert')).toBeVisible();
  await expect.element(option(/^Owners and admins/)).toBeChecked();
  await expect.element(save()).toBeEnabled();
});

test('unsaved changes are listed at every scroll position and can be discarded', async () => {
  await show('/policy', serviceWithPolicy());
  await option(/^Owners and admins/).click();
  const days = page.getByRole('spinbutton', { name: 'Longest duration of a share, in days' });
  await days.fill('7');
  const status = page.getByText('Not saved yet: who may sign in a machine, how long a share lasts at most.');
  for (const top of [0, 10_000]) {
    document.querySelector('#page')?.scrollTo(0, top);
    await expect.element(status).toBeInViewport();
  }
  await option(/^Every member/).click();
  await expect.element(page.getByText('Not saved yet: how long a share lasts at most.')).toBeVisible();
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect.element(days).toHaveValue(DEFAULT_POLICY.shareDays);
  await expect.element(save()).toBeDisabled();
  expect(page.getByText(/Not saved yet/).query()).toBeNull();
});

test('a member can read the policy but not change it', async () => {
  const service = serviceWithPolicy();
  const known = service.answers.getPerson;
  service.answers.getPerson = (given) => ({ ...known?.(given), role: 'member' }) as never;
  await show('/policy', service);
  await expect.element(option(/^Every member/)).toBeChecked();
  await expect.element(option(/^Owners and admins/)).toBeDisabled();
  await expect.element(page.getByText('Only an owner may change the policy. Ask one.')).toBeVisible();
  expect(save().query()).toBeNull();
});

test('every page says so if admins see every session', async () => {
  const service = serviceWithPolicy();
  const known = service.answers.getPerson;
  service.answers.getPerson = (given) => ({ ...known?.(given), role: 'member', adminsSeeAll: true }) as never;
  await show('/secrets', service);
  await expect.element(page.getByRole('link', { name: 'Admins see all sessions' })).toBeInTheDocument();
});

test('an owner allows figures by person and sets the smallest number of people', async () => {
  const service = serviceWithPolicy();
  const told = { policy: SHOWN };
  service.answers.getPolicy = () => told.policy;
  service.answers.replacePolicy = () => {
    told.policy = { ...SHOWN, groupByPerson: true, smallestGroup: 3 };
    return told.policy;
  };
  await show('/policy', service);
  const fewest = page.getByRole('spinbutton', { name: 'Smallest number of people whose figures are shown by name' });
  await expect.element(option(/^Not shown/)).toBeChecked();
  expect(fewest.query()).toBeNull();
  await option(/^Shown/).click();
  await expect.element(fewest).toHaveValue(5);
  await fewest.fill('3');
  await save().click();
  await expect.element(page.getByRole('status').filter({ hasText: 'Saved.' })).toBeVisible();
  await expect.element(fewest).toHaveValue(3);
});

test('an owner adds a retention rule and sees what it removes before saving', async () => {
  const service = serviceWithPolicy();
  const told = { policy: SHOWN };
  service.answers.getPolicy = () => told.policy;
  service.answers.previewRetention = () => ({
    rules: [{ target: { kind: 'repository', id: 'github.com/acme/shop' }, sessions: 600 }],
    ...{ content: 412, contentHeld: 3, facts: 1, factsHeld: 0 },
  });
  let saved = 0;
  service.answers.replacePolicy = () => {
    saved += 1;
    const target = { kind: 'repository', id: 'github.com/acme/shop' } as const;
    told.policy = { ...SHOWN, retention: [{ target, contentDays: 30 }] };
    return told.policy;
  };
  await show('/policy', service);
  await page.getByLabelText('Repository, or live or test').fill('acme/shop');
  await page.getByRole('spinbutton', { name: 'Remove content after' }).fill('30');
  await userEvent.keyboard('{Enter}');
  await expect.element(page.getByText('repository github.com/acme/shop')).toBeVisible();
  await expect.element(page.getByText('600 sessions')).toBeVisible();
  await expect.element(page.getByText('Not saved yet: how long sessions are kept.')).toBeVisible();
  await save().click();
  const dialog = page.getByRole('dialog');
  await expect
    .element(dialog.getByText(/remove the content of 412 sessions and delete 1 session within the hour, permanently/))
    .toBeVisible();
  await expect.element(dialog.getByText(/Legal holds keep the content of 3 more\./)).toBeVisible();
  expect(saved).toBe(0);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect.element(dialog).not.toBeInTheDocument();
  await expect.element(page.getByRole('status').filter({ hasText: 'Saved.' })).toBeVisible();
  expect(saved).toBe(1);
  await expect.element(page.getByText('after 30 days')).toBeVisible();
});

test('an owner sees that nothing is removed while the service doubts its clock', async () => {
  const service = serviceWithPolicy();
  service.answers.getPolicy = () => ({ ...SHOWN, retentionWaits: true });
  await show('/policy', service);
  await expect.element(page.getByText(/^Nothing is removed now/)).toBeVisible();
});

test('a rule for an unknown repository says so before it is saved', async () => {
  const service = serviceWithPolicy();
  const error = 'No session has a repository called acme/shpo. Choose one of the list.';
  service.answers.previewRetention = () =>
    Response.json({ error, code: 'validation_failed' }, { status: 400 }) as never;
  await show('/policy', service);
  await page.getByLabelText('Repository, or live or test').fill('acme/shpo');
  await page.getByRole('spinbutton', { name: 'Remove content after' }).fill('30');
  await userEvent.keyboard('{Enter}');
  await expect.element(page.getByText(/No session has a repository called acme\/shpo/)).toBeVisible();
});
