import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../contract/client.ts';
import { signIn } from '../../script/demo/sign-in.ts';
import { picture, shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { violationsOf } from './steps/accessibility.ts';
import { joinByMail } from './steps/mail.ts';
import { type Organization, openAsAda, prepareOrganization } from './steps/organization.ts';
import { linkTo } from './steps/outbox.ts';
import { ADA, type Credentials, emailOf, signIn as signInByForm } from './steps/person.ts';

const product = shareProduct();
const CLEO: Credentials = { email: emailOf('cleo'), password: 'nine slow lanterns' };
const DAN: Credentials = { email: emailOf('dan'), password: 'four bright anchors' };
const EVE: Credentials = { email: emailOf('eve'), password: 'two deep valleys' };
/** Was invited and never joins. */
const WAITING = emailOf('waiting');
let harbour: Organization;
let tab: Tab;

beforeAll(async () => {
  harbour = await prepareOrganization(product.service);
  await invite(CLEO.email, 'admin');
  await invite(WAITING);
  await becomeMember(CLEO);
  tab = await openAsAda(product);
  await tab.page.goto(`${product.service.url}/members`);
});

const invite = (email: string, role: 'member' | 'admin' = 'member') =>
  harbour.owner.inviteMember({ body: { email, role } });
const row = (page: Page, email: string) => page.getByRole('row').filter({ hasText: email });

/** @returns a client of the invited person, who has not accepted yet */
async function createAccount({ email, password }: Credentials) {
  await joinByMail(product, { email, password });
  const token = await signIn(product.service.url, { email, password });
  return createClient({ baseUrl: product.service.url, credential: () => token });
}

/** @returns a client of the invited person, who has joined */
async function becomeMember(credentials: Credentials) {
  const client = await createAccount(credentials);
  const [invitation] = (await client.getPerson({})).body.invitations ?? [];
  await client.acceptInvitation({ body: { organizationId: String(invitation?.organizationId) } });
  return client;
}

describe('the page of members', () => {
  test('shows when a mailed link expires, and sends an expired link again', async () => {
    const { page } = tab;
    await row(page, WAITING).getByText('7 days left').waitFor();
    const file = join(product.service.dataDir, 'session-capture.sqlite');
    // Other test files change the same store.
    const database = new DatabaseSync(file, { timeout: 10_000 });
    database.prepare('UPDATE members SET link_expires_at = 1 WHERE email = ?').run(WAITING);
    database.close();
    await page.reload();
    await row(page, WAITING).getByText('link expired').waitFor();
    await pictures('members');
    const before = linkTo(product.service, WAITING);
    await page.getByRole('button', { name: `Send again to ${WAITING}` }).click();
    await row(page, WAITING).getByText('7 days left').waitFor();
    expect(linkTo(product.service, WAITING)).not.toBe(before);
  });

  test('changes a role with the keyboard', async () => {
    const { page } = tab;
    await page.getByRole('button', { name: `Change role of ${CLEO.email}` }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: `Role of ${CLEO.email}` });
    await dialog.waitFor();
    await pictures('change-role');
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByRole('radio', { name: /^admin/ }).focus();
    await page.keyboard.press('ArrowUp');
    await dialog.getByRole('button', { name: 'Change role' }).focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await row(page, CLEO.email).getByRole('cell', { name: 'member', exact: true }).waitFor();
  });

  test('withdraws an invitation after a confirmation', async () => {
    const { page } = tab;
    await page.getByRole('button', { name: `Withdraw the invitation of ${WAITING}` }).click();
    const dialog = page.getByRole('dialog', { name: `Withdraw the invitation of ${WAITING}` });
    await dialog.waitFor();
    await pictures('withdraw');
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await row(page, WAITING).waitFor({ state: 'detached' });
  });

  test('does not let the last owner leave, and says what to do', async () => {
    const { page } = tab;
    tab.allow(/status of 409/);
    await row(page, ADA.email).getByRole('button', { name: 'Leave' }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave Harbour Works' });
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await dialog.getByRole('alert').getByText('Make another member an owner first').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('passes ownership on, so that the owner may leave', async () => {
    const { page } = tab;
    await page.getByRole('button', { name: `Change role of ${CLEO.email}` }).click();
    await page.getByRole('radio', { name: /owner in your place/ }).check();
    await page.getByRole('button', { name: 'Pass ownership on' }).click();
    await row(page, CLEO.email).getByRole('cell', { name: 'owner', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: `Remove ${CLEO.email}` }).count()).toBe(0);
    await row(page, ADA.email).getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL('**/welcome');
    await page.getByLabel(/^Name/).waitFor();
  });
});

test('a person with invitations of two organizations chooses one of them', async () => {
  const { page } = tab;
  await page.getByLabel(/^Name/).fill('Mountain Works');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  // Without this wait, the person could leave before the organization is created.
  await page.getByText('Connect a machine').waitFor();
  await page.goto(`${product.service.url}/members`);
  const cleo = createClient({
    baseUrl: product.service.url,
    credential: () => signIn(product.service.url, CLEO),
  });
  for (const owner of [harbour.owner, cleo]) await owner.inviteMember({ body: { email: DAN.email } });
  await createAccount(DAN);
  const visitor = await product.open();
  await visitor.page.goto(product.service.url);
  await signInByForm(visitor.page, DAN);
  await visitor.page.getByText('These organizations invited you').waitFor();
  expect(await violationsOf(visitor.page)).toEqual([]);
  await pictures('invitations', visitor);
  await visitor.page.getByRole('button', { name: 'Join Harbour Works' }).click();
  await visitor.page.getByText('Connect a machine').waitFor();
  await product.close(visitor);
});

test('a removed member sees how to start again', async () => {
  await harbour.owner.inviteMember({ body: { email: EVE.email } });
  const eve = await becomeMember(EVE);
  const { page } = tab;
  await page.goto(`${product.service.url}/members`);
  await page.getByRole('button', { name: `Remove ${EVE.email}` }).click();
  await page
    .getByRole('dialog', { name: `Remove ${EVE.email}` })
    .getByRole('button', { name: 'Remove' })
    .click();
  await row(page, EVE.email).waitFor({ state: 'detached' });
  await expect(eve.listMembers({})).rejects.toMatchObject({ code: 'no_organization' });
});

/** Saves pictures in both themes, at the widths of a desktop and of a phone. */
async function pictures(name: string, { page } = tab): Promise<void> {
  const before = page.viewportSize() ?? { width: 1440, height: 900 };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 720 });
      await picture({ page } as Tab, `${name}-${colorScheme}-${width}`);
    }
  }
  await page.setViewportSize(before);
}
