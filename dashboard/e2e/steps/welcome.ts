import type { Page } from 'playwright-core';

/** The steps of the first visit, each as its heading shows it. */
const step = (page: Page, heading: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: heading }) });

export async function createOrganization(page: Page, name: string): Promise<void> {
  await page.getByLabel(/^Its name/).fill(name);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await step(page, 'Create your organization').getByText(name).waitFor();
}

/** @returns the value, which is shown this once */
export async function issueSecret(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Issue a secret' }).click();
  const shown = step(page, 'Issue a secret').locator('code');
  await shown.waitFor();
  return (await shown.textContent()) ?? '';
}

/** What the page tells to run on the machine with `capture`, each without that word. */
export async function commandsOf(page: Page): Promise<string[][]> {
  const lines = await step(page, 'Run this on the machine').locator('code').allInnerTexts();
  const commands = lines.flatMap((line) => line.trim().split(' && ')).filter((line) => line.startsWith('capture '));
  return commands.map((command) => command.split(' ').slice(1));
}

export async function openFirstSession(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Open the session' }).click();
  await page.waitForURL('**/sessions/*');
}
