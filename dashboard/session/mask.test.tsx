import { beforeEach, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { MaskBody, MaskReceipt } from '../../contract/mask.ts';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { drawnRows, rowOf, wordsOf } from '../test/timeline.ts';

const SECRET = 'harbour-4711';
const MARK = '[REDACTED:manual:1f0c]';
const AT = '2026-11-22T12:00:00.000Z';
const COUNTS = { events: 2, places: 3, fields: 1, mark: MARK };
const DONE: MaskReceipt = { maskId: 'msk_1', by: 'usr_1', requestedAt: AT, finishedAt: AT, outcome: 'done', ...COUNTS };
const RUNNING: MaskReceipt = { maskId: 'msk_1', by: 'usr_1', requestedAt: AT, ...COUNTS };

let service: Service;
let asked: MaskBody[];
/** The receipts of masks, the latest first. */
let masks: MaskReceipt[];
/** The outcome of the next mask. */
let next: MaskReceipt;

beforeEach(() => {
  [asked, masks, next] = [[], [], DONE];
  service = createService([
    ['user.message', { text: `The word is ${SECRET} today` }],
    ['assistant.message', { text: 'I keep it to myself' }],
  ]);
  const { answers } = service;
  const { getEventWindow } = answers;
  answers.getEventWindow = (given) => {
    const window = JSON.stringify(getEventWindow?.(given));
    return JSON.parse(masks[0]?.finishedAt ? window.replaceAll(SECRET, MARK) : window);
  };
  answers.listMembers = () => ({ users: [] });
  answers.listMasks = () => ({ masks });
  answers.maskText = (_, body = '') => {
    const wanted: MaskBody = JSON.parse(body);
    asked.push(wanted);
    if (wanted.dryRun) return wanted.text === SECRET ? COUNTS : { ...COUNTS, events: 0, places: 0, fields: 0 };
    masks = [next, ...masks];
    return { ...COUNTS, receipt: next };
  };
});

async function open(): Promise<void> {
  await show('/sessions/ses_1', service);
  await expect.poll(() => drawnRows().length).toBe(2);
}
async function openFromMenu(): Promise<void> {
  await open();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Mask a text…' }).click();
}
const field = () => page.getByRole('textbox', { name: /^Text/ });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const sure = () => page.getByRole('checkbox', { name: /permanently/ });
const dialog = (name: string) => page.getByRole('dialog', { name });
const prompt = () => wordsOf(rowOf(1));

/** Selects the word in the prompt, like a mouse does. */
function select(): void {
  const walker = document.createTreeWalker(rowOf(1) as Node, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    const at = node.data.indexOf(SECRET);
    if (at >= 0) getSelection()?.setBaseAndExtent(node, at, node, at + SECRET.length);
  }
  expect(String(getSelection())).toBe(SECRET);
}

async function maskPasted(): Promise<void> {
  await openFromMenu();
  await field().fill(SECRET);
  await button('Find').click();
  await sure().click();
  await button('Mask permanently').click();
}

test('a text is counted, then masked after a confirmation, and disappears from the page', async () => {
  await openFromMenu();
  await expect.element(field()).toHaveFocus();
  await expect.element(button('Find')).toBeDisabled();
  await field().fill(SECRET);
  await button('Find').click();
  await expect.element(page.getByText(/Found in 3 places of 2 events, and once in title/)).toBeVisible();
  expect(asked).toEqual([{ text: SECRET, dryRun: true }]);
  expect(prompt()).toContain(SECRET);
  await expect.element(button('Mask permanently')).toBeDisabled();
  await sure().click();
  await button('Mask permanently').click();
  await expect.element(dialog('The text is masked').getByText(/Masked in 3 places of 2 events/)).toBeVisible();
  expect(asked.slice(1)).toEqual([{ text: SECRET }]);
  await expect.poll(prompt).toContain(MARK);
  await expect.poll(() => document.querySelector('[data-part="body"]')?.textContent).not.toContain(SECRET);
  await expect.element(button('Done')).toHaveFocus();
  await userEvent.keyboard('{Enter}');
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
});

test('the count names the figures that contain the text and stay', async () => {
  const { answers } = service;
  answers.maskText = () => ({ ...COUNTS, left: ['model', 'outputTokens'] });
  await openFromMenu();
  await field().fill(SECRET);
  await button('Find').click();
  await expect.element(page.getByText(/It also occurs in model, outputTokens, and stays there: figures/)).toBeVisible();
});

test('a selected text is counted at once, from the menu and from the palette', async () => {
  await open();
  select();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Mask a text…' }).click();
  await expect.element(field()).toHaveValue(SECRET);
  await expect.element(page.getByText(/Found in 3 places/)).toBeVisible();
  await userEvent.keyboard('{Escape}');
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
  select();
  await userEvent.keyboard('{Control>}k{/Control}');
  await page.getByRole('combobox').fill('mask a text');
  await userEvent.keyboard('{Enter}');
  await expect.element(field()).toHaveValue(SECRET);
});

test('another text is counted again, and a text without matches cannot be masked', async () => {
  await openFromMenu();
  await field().fill(SECRET);
  await button('Find').click();
  await sure().click();
  await field().fill('Harbour-4711');
  await expect.element(sure()).not.toBeInTheDocument();
  await button('Find').click();
  await expect.element(page.getByText(/Not found in this session/)).toBeVisible();
  await expect.element(button('Find')).toBeDisabled();
  expect(asked.every(({ dryRun }) => dryRun)).toBe(true);
});

test('the reason why a text cannot be masked is shown', async () => {
  const refuse = (status: number, code: string, error: string) => {
    service.answers.maskText = () => Response.json({ error, code }, { status }) as never;
  };
  await openFromMenu();
  refuse(409, 'held', 'The hold hld_1 keeps this session as it is, so nothing was masked.');
  await field().fill(SECRET);
  await button('Find').click();
  await expect
    .poll(() => page.getByRole('alert').query()?.textContent)
    .toMatch(/^A legal hold keeps this\. The hold hld_1/);
  refuse(403, 'content_withheld', 'The content of this session was removed meanwhile.');
  await button('Find').click();
  await expect
    .poll(() => page.getByRole('alert').query()?.textContent)
    .toMatch(/^The content of this session cannot be read\. The content of this session was removed/);
});

test('a long mask shows that it runs, and the page is read again when it ends', async () => {
  next = RUNNING;
  await maskPasted();
  await expect.element(dialog('The text is being masked')).toBeVisible();
  expect(prompt()).toContain(SECRET);
  masks = [DONE];
  await expect.element(dialog('The text is masked')).toBeVisible();
  await expect.poll(prompt).toContain(MARK);
});

test('a hold in the meantime is shown with the places masked before it', async () => {
  next = { ...DONE, outcome: 'held' };
  await maskPasted();
  await expect.element(dialog('The text is masked in part').getByText(/the other places keep the text/)).toBeVisible();
});

test('earlier masks are listed', async () => {
  masks = [DONE];
  await openFromMenu();
  const listed = page.getByRole('region', { name: 'Masked in this session' });
  await expect.element(listed.getByText(MARK)).toBeVisible();
  await expect.element(listed.getByText(/by a former member/)).toBeVisible();
});

test('a person who may not read the content of a session cannot mask it', async () => {
  const error = { error: 'Only the person of this session may read what was said in it.', code: 'content_withheld' };
  service.answers.getEventWindow = () => Response.json(error, { status: 403 }) as never;
  await show('/sessions/ses_1', service);
  await expect.element(page.getByText(/You see its facts/)).toBeVisible();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await expect.element(page.getByRole('menuitem', { name: 'Share…' })).toBeVisible();
  await expect.element(page.getByRole('menuitem', { name: 'Mask a text…' })).not.toBeInTheDocument();
});
