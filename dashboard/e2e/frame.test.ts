import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { picture, setUpProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event } from './steps/recording.ts';

const product = setUpProduct();
let tab: Tab;
let page: Page;

/** A name with bidirectional controls, hidden characters and piled marks. */
const NAME = `mach\u202eenie \u200bnine \u2066${'z'.concat('\u0301'.repeat(60))}`;
const HIDING = /[\u202a-\u202e\u2066-\u2069\u200b]|\p{M}{9}/u;

beforeAll(async () => {
  const { machine, owner } = await prepareOrganization(product.service);
  await owner.issueSecret({ body: { name: 'for machines' } });
  const recorder = await createRecorder(machine);
  await recorder.append(await recorder.openSession(NAME), [
    event('user.message', { text: NAME, occurredAt: new Date().toISOString() }),
  ]);
  await storeNames();
  tab = await openAsAda(product);
  ({ page } = tab);
});

/** The service refuses such names today, but an earlier version may have stored them. */
async function storeNames(): Promise<void> {
  await product.service.stop();
  const db = new DatabaseSync(join(product.folder, 'data/session-capture.sqlite'));
  for (const statement of [
    'update organizations set name = ?',
    'update secrets set name = ?',
    'update environments set hostname = ?',
  ]) {
    db.prepare(statement).run(NAME);
  }
  db.close();
  await product.service.restart();
}

const goTo = async (path: string, name: string) => {
  await page.goto(product.service.url + path);
  await page.getByRole('heading', { level: 1, name }).waitFor();
};
const focused = () =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);

describe('hidden characters in names from other people', () => {
  test.each([
    ['/', 'Overview'],
    ['/sessions', 'Sessions'],
    ['/environments', 'Machines'],
    ['/agents', 'Agents'],
    ['/secrets', 'Secrets'],
    ['/organization', 'Organization'],
  ])('are visible at %s', async (path, name) => {
    await goTo(path, name);
    await page.getByText('⟨U+202E⟩').first().waitFor();
    const texts = await page.evaluate(() => [
      document.title,
      document.body.textContent,
      ...[...document.querySelectorAll('[title], [aria-label]')].flatMap((each) => [
        each.getAttribute('title') ?? '',
        each.getAttribute('aria-label') ?? '',
      ]),
    ]);
    for (const text of texts) expect(text).not.toMatch(HIDING);
  });

  test('are visible in the palette and in the title of the window', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByText('⟨U+202E⟩').waitFor();
    expect(await page.getByRole('dialog').textContent()).not.toMatch(HIDING);
    await page.keyboard.press('Enter');
    await goTo('/sessions', 'Sessions');
    await page
      .getByRole('link', { name: /⟨U\+202E⟩/ })
      .first()
      .click();
    await page.waitForURL('**/sessions/ses_*');
    await expect.poll(() => page.title()).toContain('⟨U+202E⟩');
    expect(await page.title()).not.toMatch(HIDING);
  });
});

describe('by keyboard alone', () => {
  test('the skip link leads past the rail to the page', async () => {
    await goTo('/environments', 'Machines');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the page');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('page');
  });

  test('the palette takes the focus and gives it back', async () => {
    await goTo('/environments', 'Machines');
    const first = page.getByRole('button', { name: /^Revoke/ }).first();
    await first.focus();
    const before = await focused();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('nothing of the kind');
    await page.getByText('Find “nothing of the kind” in all sessions').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe(before);
  });

  test('an action of the palette opens a dialog, which gives the focus to the page', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('issue sec');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Issue a secret' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => document.activeElement !== document.body)).toBe(true);
  });

  test('a cancelled confirmation gives the focus back to its button', async () => {
    await goTo('/environments', 'Machines');
    const button = page.getByRole('button', { name: /^Revoke/ }).first();
    await button.focus();
    const before = await focused();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe(before);
  });
});

describe('a secret', () => {
  test('cannot be closed by accident before it is copied', async () => {
    await goTo('/secrets', 'Secrets');
    await page.getByRole('button', { name: 'Issue a secret' }).click();
    await page.getByLabel('Name (optional)').fill('laptop');
    await page.getByRole('button', { name: 'Issue', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'The new secret' });
    await dialog.waitFor();
    for (const _ of [1, 2, 3]) await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    const value = await dialog.locator('code').textContent();
    await dialog.getByRole('button', { name: 'Copy the secret' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(value);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  test('is rotated step by step', async () => {
    await page.getByRole('button', { name: 'Rotate laptop' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rotate laptop' });
    await dialog.getByRole('button', { name: 'Issue' }).click();
    await dialog.locator('code').waitFor();
    await page.keyboard.press('Escape');
    await picture(tab, 'rotation-copy');
    await dialog.getByRole('button', { name: 'Copy the secret' }).click();
    await dialog.getByText('The old secret was never used.').waitFor();
    await picture(tab, 'rotation');
    await dialog.getByRole('button', { name: /^Revoke sk_live_/ }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await expect
      .poll(() => page.getByRole('row', { name: /^laptop/ }).allInnerTexts())
      .toEqual([expect.not.stringContaining('revoked'), expect.stringContaining('revoked')]);
  });
});

test('a machine and its agents link to their sessions', async () => {
  for (const [path, name, row] of [
    ['/environments', 'Machines', /⟨U\+202E⟩/],
    ['/agents', 'Agents', /Claude Code/],
  ] as const) {
    await goTo(path, name);
    await page.getByRole('row').getByRole('link', { name: row }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toContain('machine:env_');
    await page
      .getByRole('link', { name: /⟨U\+202E⟩/ })
      .first()
      .waitFor();
  }
});

test('a person who prefers reduced motion sees no motion', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await goTo('/sessions', 'Sessions');
  await page.locator('.pulse').first().waitFor();
  const moving = await page.evaluate(
    () => document.getAnimations().filter(({ playState }) => playState === 'running').length,
  );
  expect(moving).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBeGreaterThan(0);
});

test.each([
  [320, 640],
  [2560, 1440],
])('nothing scrolls sideways at a width of %i, and titles are at the same place', async (width, height) => {
  await page.setViewportSize({ width, height });
  const lefts = new Set<number>();
  for (const [path, name] of [
    ['/', 'Overview'],
    ['/sessions', 'Sessions'],
    ['/environments', 'Machines'],
    ['/agents', 'Agents'],
    ['/members', 'Members'],
    ['/secrets', 'Secrets'],
    ['/organization', 'Organization'],
  ] as const) {
    await goTo(path, name);
    await picture(tab, `${name.toLowerCase()}-${width}`);
    const measured = await page.evaluate(() => ({
      left: document.querySelector('h1')?.getBoundingClientRect().left ?? 0,
      sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    }));
    expect([path, measured.sideways]).toEqual([path, 0]);
    lefts.add(measured.left);
  }
  expect(lefts.size).toBe(1);
  await page.setViewportSize({ width: 1440, height: 900 });
});
