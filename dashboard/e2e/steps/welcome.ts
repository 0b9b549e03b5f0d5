import type { Locator, Page } from 'playwright-core';
import type { RunningService } from '../harness/service.ts';

/** The steps of the welcome page, by their headings. */
const step = (page: Page, heading: string): Locator =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: heading, exact: true }) });

/** A step, once it is ticked. */
export const tick = (page: Page, heading: string): Locator =>
  step(page, heading).and(page.locator('[data-done="true"]'));

export async function createOrganization(page: Page, name: string): Promise<void> {
  await page.getByLabel(/^Name/).fill(name);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await tick(page, 'Organization').getByText(name).waitFor();
}

/** Invites a person on the page Members. */
export async function invite(page: Page, { url }: RunningService, email: string): Promise<void> {
  await page.goto(`${url}/members`);
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite a person' });
  await dialog.getByRole('textbox').fill(email);
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await page.getByRole('row').filter({ hasText: email }).waitFor();
}

/** The command that connects a machine of this system. */
export async function lineOf(page: Page, system: string): Promise<string> {
  await page.getByRole('tab', { name: system }).click();
  return (await page.getByRole('tabpanel', { name: system }).locator('code').textContent()) ?? '';
}

const bySecret = (page: Page) => page.getByRole('group').filter({ hasText: 'With a secret' });

/** @returns the value, which is shown only once */
export async function issueSecret(page: Page): Promise<string> {
  await bySecret(page).getByText('With a secret').click();
  await page.getByRole('button', { name: 'Issue a secret' }).click();
  const shown = bySecret(page).locator('code').first();
  await shown.getByText(/^sk_live_/).waitFor();
  return (await shown.textContent()) ?? '';
}

/** The commands of the page for a machine with a secret, each without the word `capture`. */
export async function commandsOf(page: Page): Promise<string[][]> {
  const lines = await bySecret(page).locator('code').allInnerTexts();
  const commands = lines.flatMap((line) => line.trim().split(' && ')).filter((line) => line.startsWith('capture '));
  return commands.map((command) => command.split(' ').slice(1));
}

export async function openFirstSession(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Open the session' }).click();
  await page.waitForURL('**/sessions/*');
}
