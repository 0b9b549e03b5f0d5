import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { NewEvent } from '../../contract/event.ts';
import { picture, shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { violationsOf } from './steps/accessibility.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { event } from './steps/recording.ts';
import { command, createFleet, titlesIn } from './steps/sessions.ts';

const product = shareProduct();
let tab: Tab;
let page: Page;
let open: Awaited<ReturnType<typeof createFleet>>;
const today = new Date().toISOString().slice(0, 10);

beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  open = await createFleet(machine);
  await open({
    title: 'Mend the pump',
    events: [...said('mend it'), ...now(command('a', 'make', 'no rule to make', 2))],
  });
  await open({
    agentId: 'codex',
    title: 'Paint the hull',
    events: [...said('paint it'), ...now(command('b', 'ls', 'hull'))],
  });
  tab = await openAsAda(product);
  page = tab.page;
});

/** Shifts the times of events to the present. */
const now = (events: readonly NewEvent[]): NewEvent[] =>
  events.map((each) => ({ ...each, payload: { ...each.payload, occurredAt: new Date().toISOString() } }));
const said = (text: string) => now([event('user.message', { text })]);

const goTo = async (search = '') => {
  await page.goto(`${product.service.url}/${search}`);
  await page.getByRole('heading', { name: 'Tools' }).waitFor();
};
const running = () => page.getByRole('region', { name: /Running now/ });
const plot = (name: string) => page.getByRole('navigation', { name, exact: true });

test('running sessions are at the top, and new ones appear without a reload', async () => {
  await goTo();
  await running()
    .getByRole('link', { name: /Mend the pump/ })
    .waitFor();
  await open({ title: 'Haul the anchor', events: said('haul it') });
  await running()
    .getByRole('link', { name: /Haul the anchor/ })
    .waitFor();
});

describe('a plot', () => {
  test('can be explored with the arrow keys, and a day links to its sessions', async () => {
    await goTo();
    const day = plot('Sessions').getByRole('link').last();
    await day.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => day.evaluate((link) => link === document.activeElement)).toBe(true);
    expect(await day.textContent()).toMatch(/: Claude Code \d+, Codex 1$/);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('q')?.startsWith(`after:${today}T00:00Z before:`) ?? false);
    await expect.poll(() => titlesIn(page)).toContain('Mend the pump');
  });

  test('names each series with a link to its sessions', async () => {
    await goTo();
    await page.getByRole('list', { name: 'Sessions by series' }).getByRole('link', { name: 'Codex' }).click();
    await expect.poll(() => titlesIn(page)).toEqual(['Paint the hull']);
  });

  test('can be read as a table', async () => {
    await goTo();
    await page.getByRole('button', { name: 'Machine' }).click();
    await page.waitForURL('**/?by=environment');
    await page.getByRole('button', { name: 'Table' }).click();
    const row = page.getByRole('region', { name: 'Figures', exact: true }).getByRole('row', { name: /lighthouse/ });
    await expect.poll(() => row.getByRole('rowheader').textContent()).toBe('lighthouse');
    await expect.poll(() => row.getByRole('cell').allTextContents()).toEqual(expect.arrayContaining(['1', '0']));
    await row.getByRole('link').click();
    await expect.poll(() => titlesIn(page)).toEqual(['Paint the hull']);
  });
});

test('a tool shows how often it fails and links to the sessions that called it', async () => {
  await goTo();
  const bash = page.getByRole('row', { name: /^Bash/ });
  await expect.poll(() => bash.textContent()).toContain('1 failed · 50 %');
  await bash.getByRole('link').click();
  await page.waitForURL((url) => url.searchParams.get('q')?.startsWith('tool:Bash') ?? false);
  await expect.poll(() => titlesIn(page)).toHaveLength(2);
});

test('the chosen days are in the address, and a range without sessions still shows figures', async () => {
  await goTo();
  await page.getByRole('button', { name: '7 days' }).click();
  await page.waitForURL('**/?days=7');
  await page.getByLabel('First day, UTC').fill('2026-01-01');
  await page.waitForURL((url) => url.searchParams.get('from') === '2026-01-01' && !url.searchParams.has('days'));
  await goTo('?from=2020-01-01&to=2020-12-31');
  await page.getByText('No calls in this period.').waitFor();
});

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  test('the overview has no accessibility violation', async () => {
    await page.emulateMedia({ colorScheme });
    await goTo();
    await plot('Sessions').getByRole('link').last().focus();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Table' }).click();
    expect(await violationsOf(page)).toEqual([]);
  });

  test.each([320, 1440, 2560])('the overview fits into a width of %i', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await goTo();
    await picture(tab, `overview-${colorScheme}-${width}`);
    const beyond = await page.locator('#page').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(beyond).toBe(0);
  });
});
