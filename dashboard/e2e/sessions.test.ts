import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../contract/client.ts';
import { picture, shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { violationsOf } from './steps/accessibility.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { event } from './steps/recording.ts';
import { bar, command, createFleet, listOf, rowOf, titlesIn } from './steps/sessions.ts';

const product = shareProduct();
const FLAKY = 'Fix the flaky test of the queue';
const DOCS = 'Write the docs of the harbour';
let tab: Tab;
let page: Page;
let machine: Client;
let owner: Client;
let open: Awaited<ReturnType<typeof createFleet>>;
let flaky: string;

beforeAll(async () => {
  ({ machine, owner } = await prepareOrganization(product.service));
  open = await createFleet(machine);
  flaky = await open({
    title: FLAKY,
    branch: 'fix/queue',
    events: [
      event('session.meta', { cwd: '/home/ada/work/harbour' }),
      event('user.message', { text: 'please find out why it is flaky' }),
      ...command('a', 'npm test', 'Error: read ECONNRESET while draining the queue', 1),
      ...command('b', 'npm test', 'all 12 tests passed'),
    ],
  });
  await open({
    agentId: 'codex',
    title: DOCS,
    events: [event('user.message', { text: 'describe how ships queue up' }), ...command('c', 'ls docs', 'README.md')],
  });
  tab = await openAsAda(product);
  page = tab.page;
});

const goTo = async (search = '') => {
  await page.goto(`${product.service.url}/sessions${search}`);
  await listOf(page).waitFor();
};
const query = () => new URL(page.url()).searchParams.get('q');
/** Waits until the list has rows with these titles. */
const expectTitles = (...titles: string[]) => expect.poll(() => titlesIn(page)).toEqual(titles);

describe('a search', () => {
  test('for words shows their places and links to them', async () => {
    await goTo();
    await bar(page).fill('ECONNRESET');
    await expectTitles(FLAKY);
    const hit = rowOf(page, FLAKY).getByRole('link', { name: /output.*ECONNRESET/ });
    await expect.poll(() => hit.locator('mark').allTextContents()).toEqual(['ECONNRESET']);
    // A ligature would turn `->` into an arrow that nobody wrote.
    expect(await hit.evaluate((element) => getComputedStyle(element).fontFeatureSettings)).toBe('"calt" 0');
    await picture(tab, 'search-words');
    await hit.click();
    await page.waitForURL(`**/sessions/${flaky}?e=4&find=ECONNRESET`);
    const find = page.getByRole('textbox', { name: 'Find in the session' });
    await expect.poll(() => find.inputValue()).toBe('ECONNRESET');
    await page.getByText(/^1 of \d+$/).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(`**/sessions/${flaky}?e=4`);
    await page.goBack();
    await expectTitles(FLAKY);
    expect(await bar(page).inputValue()).toBe('ECONNRESET');
  });

  test('without results says so, and how to continue', async () => {
    await page.goto(`${product.service.url}/sessions?q=zzyzx`);
    await page.getByRole('heading', { name: 'No matching sessions' }).waitFor();
    await page.getByRole('link', { name: 'clear the search' }).click();
    await expectTitles(DOCS, FLAKY);
  });

  test('with an unknown filter says what it searches for instead', async () => {
    await goTo();
    await bar(page).fill('queue after:someday ');
    await page.getByText(/after:someday is searched as words/).waitFor();
    await page.goto(`${product.service.url}/sessions?q=failed:perhaps`);
    await page.getByText(/failed:perhaps is searched as words: failed: takes yes or no/).waitFor();
  });
});

test('a search can be started from any page', async () => {
  await page.goto(`${product.service.url}/members`);
  await page.getByRole('heading', { name: 'Members' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('flaky');
  await page.getByRole('option', { name: 'Find “flaky” in all sessions' }).click();
  await expectTitles(FLAKY);
  expect(query()).toBe('flaky');
});

describe('a filter', () => {
  test('is suggested, becomes a chip and can be removed', async () => {
    await goTo();
    await bar(page).fill('agent:cod');
    await page.getByRole('option', { name: /Codex/ }).waitFor();
    await bar(page).press('ArrowDown');
    await bar(page).press('Enter');
    await expectTitles(DOCS);
    expect(query()).toBe('agent:codex');
    await page.getByRole('button', { name: 'Remove the filter agent Codex' }).click();
    await expectTitles(DOCS, FLAKY);
    expect(query()).toBeNull();
  });

  test('can be typed between words and removed with Backspace', async () => {
    await goTo();
    await bar(page).pressSequentially('branch:fix/queue queue');
    await expect.poll(() => query()).toBe('branch:fix/queue queue');
    await expectTitles(FLAKY);
    await bar(page).fill('');
    await bar(page).press('Backspace');
    await expectTitles(DOCS, FLAKY);
  });

  test('for a machine shows its name, also when it comes from a link of another page', async () => {
    const { body } = await owner.listEnvironments({});
    const { environmentId } = body.environments.find(({ hostname }) => hostname === 'lighthouse') ?? {};
    await goTo(`?q=machine:${environmentId}`);
    await expectTitles(DOCS);
    await page.getByRole('button', { name: 'Remove the filter machine lighthouse' }).waitFor();
  });

  test('is set by the links of the pages Members and Secrets', async () => {
    const { environmentId } = (await owner.getSession({ sessionId: flaky })).body.session;
    const { userId } = (await owner.getPerson({})).body;
    await owner.setMachinePerson({ environmentId, body: { userId } });
    await page.goto(`${product.service.url}/members`);
    await page.getByRole('link', { name: 'Sessions of ada' }).click();
    await expectTitles(FLAKY);
    await page.getByRole('button', { name: 'Remove the filter person ada' }).waitFor();
    await page.goto(`${product.service.url}/secrets?plane=all`);
    await page.getByRole('link', { name: 'tests' }).click();
    await expectTitles(DOCS, FLAKY);
    await page.getByRole('button', { name: 'Remove the filter secret tests' }).waitFor();
    expect(new URL(page.url()).searchParams.get('plane')).toBeNull();
  });
});

describe('the list', () => {
  test('can be sorted by a column, and the address keeps the order', async () => {
    await goTo();
    const header = page.getByRole('columnheader', { name: 'Failed' });
    await header.getByRole('button').click();
    await expectTitles(FLAKY, DOCS);
    expect(await header.getAttribute('aria-sort')).toBe('descending');
    await header.getByRole('button').click();
    await expectTitles(DOCS, FLAKY);
    await page.waitForURL('**/sessions?order=failures&direction=asc');
    await page.reload();
    await expectTitles(DOCS, FLAKY);
  });

  test('distinguishes sessions by their place and their outcome', async () => {
    await goTo();
    const row = rowOf(page, FLAKY);
    await expect.poll(() => row.textContent()).toMatch(/Claude Code.*ada.*harbour.*fix\/queue.*workbench/);
    expect(await row.locator('[data-label="Failed"]').textContent()).toBe('1');
  });

  test('can be saved as a view', async () => {
    await goTo('?q=agent:codex&order=cost');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Codex by cost');
    await page.getByRole('checkbox', { name: /^Share with everyone/ }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Codex by cost' }).waitFor();
    await goTo();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Codex by cost' }).click();
    await page.waitForURL('**/sessions?q=agent%3Acodex&order=cost');
    await expectTitles(DOCS);
    await page.getByRole('button', { name: 'Codex by cost' }).click();
    await page.getByRole('menuitem', { name: 'Delete Codex by cost…' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Views' }).waitFor();
  });

  test('can be searched, previewed and opened without the mouse', async () => {
    await goTo();
    await page.keyboard.press('f');
    await page.keyboard.type('queue');
    await page.waitForURL('**/sessions?q=queue');
    await rowOf(page, FLAKY)
      .getByRole('link', { name: /ECONNRESET/ })
      .waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await expectFocus(FLAKY);
    await page.keyboard.press('Space');
    const preview = page.getByRole('complementary', { name: 'Preview' });
    await preview.getByRole('link', { name: 'please find out why it is flaky' }).waitFor();
    await preview.getByRole('link', { name: /npm test.*1 of 2/ }).waitFor();
    await page.keyboard.press('k');
    await expectFocus(DOCS);
    await preview.getByRole('heading', { name: DOCS }).waitFor();
    await picture(tab, 'sessions-preview');
    await page.keyboard.press('Escape');
    await preview.waitFor({ state: 'detached' });
    await expectFocus(DOCS);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/sessions/${flaky}?find=queue`);
  });

  test.each(['light', 'dark'] as const)('has no accessibility violation in the %s theme', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await goTo('?q=agent:codex queue');
    await page.keyboard.press('j');
    await page.keyboard.press('Space');
    await page.getByRole('complementary', { name: 'Preview' }).getByText('describe how ships').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('f');
    await page.keyboard.type(' tool:');
    await page.getByRole('option').first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
  });

  test.each([320, 390, 2560])('fits into a width of %i', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await goTo('?q=queue');
    await rowOf(page, FLAKY).getByRole('link', { name: /queue/ }).last().waitFor();
    await picture(tab, `sessions-found-${width}`);
    const area = page.locator('#page');
    expect(await area.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    const { x = 0, width: wide = 0 } = (await rowOf(page, FLAKY).locator('.text-bad').first().boundingBox()) ?? {};
    expect(x + wide).toBeLessThan(width);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});

describe('while agents work', () => {
  test('new sessions wait behind a button, and visible rows do not move', async () => {
    await goTo();
    await rowOf(page, FLAKY).hover();
    const before = await rowOf(page, FLAKY).boundingBox();
    await open({
      title: 'Begun in the meantime',
      events: [event('user.message', { text: 'who began in the meantime?' })],
    });
    const pill = page.getByRole('button', { name: '1 new session' });
    await pill.waitFor();
    expect(await rowOf(page, FLAKY).boundingBox()).toEqual(before);
    await pill.click();
    await expectTitles('Begun in the meantime', DOCS, FLAKY);
  });

  test('only the figures of a changed row are read again', async () => {
    await goTo();
    const asked: string[] = [];
    const listen = (request: { url(): string }) => void asked.push(new URL(request.url()).pathname);
    page.on('request', listen);
    await machine.appendEvents({
      sessionId: flaky,
      body: { events: command('d', 'npm run lint', 'two problems', 1) },
    });
    await expect.poll(() => rowOf(page, FLAKY).locator('[data-label="Failed"]').textContent()).toBe('2');
    page.off('request', listen);
    expect(asked.filter((path) => path.endsWith('/search'))).toEqual([]);
  });

  test('a session that is deleted from the list disappears everywhere', async () => {
    await goTo('?q=meantime');
    await expectTitles('Begun in the meantime');
    const row = rowOf(page, 'Begun in the meantime');
    await row.hover();
    await row.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No matching sessions' }).waitFor();
    await page.goto(`${product.service.url}/sessions?q=meantime`);
    await page.getByRole('heading', { name: 'No matching sessions' }).waitFor();
    await goTo();
    await expectTitles(DOCS, FLAKY);
  });
});

/** The row with the focus. */
const expectFocus = (title: string) =>
  expect
    .poll(() => page.evaluate(() => document.activeElement?.closest('[data-session]')?.textContent ?? ''))
    .toContain(title);
