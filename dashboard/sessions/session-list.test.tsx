import { beforeEach, describe, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { SessionRow } from '../app/queries.ts';
import { sessionRow } from '../test/rows.ts';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';

const COUNT = 300;
const titleOf = (at: number) => `Errand ${at}`;
const rows: SessionRow[] = Array.from({ length: COUNT }, (_, index) => {
  const row = sessionRow(`ses_${index + 1}`);
  return { ...row, session: { ...row.session, title: titleOf(index + 1) } };
});

let service: Service;
let address: () => string;
let back: () => void;

const press = (keys: string) => userEvent.keyboard(keys);
const focusedRow = () => (document.activeElement as HTMLElement | null)?.dataset.session;
const focused = () => document.activeElement?.ariaLabel;
const drawnRows = () => [...document.querySelectorAll<HTMLElement>('[data-session]')];
const preview = () => page.getByRole('complementary', { name: 'Preview' }).query()?.querySelector('h2')?.textContent;

async function open(list = rows): Promise<void> {
  service = createService([], list);
  ({ address, back } = await show('/sessions', service));
  await expect.poll(() => drawnRows().length).toBeGreaterThan(0);
}

describe('the list of sessions', () => {
  beforeEach(async () => {
    await open();
    await press('jj');
    await expect.poll(focusedRow).toBe('ses_2');
  });

  test('draws visible rows, one of which is a stop of Tab, and keys reach every row', async () => {
    expect(drawnRows().length).toBeLessThan(40);
    await press('{End}');
    await expect.poll(focusedRow).toBe(`ses_${COUNT}`);
    await press('{ArrowUp}');
    await expect.poll(focusedRow).toBe(`ses_${COUNT - 1}`);
    expect(drawnRows().filter(({ tabIndex }) => tabIndex === 0)).toEqual([document.activeElement]);
    await press('gg');
    await expect.poll(focusedRow).toBe('ses_1');
  });

  test('Space previews a session, j the next one, Space or Escape closes it, and the row keeps the focus', async () => {
    for (const close of [' ', '{Escape}']) {
      await press(' ');
      await expect.poll(preview).toBe(titleOf(2));
      await press('j');
      await expect.poll(preview).toBe(titleOf(3));
      expect(focusedRow()).toBe('ses_3');
      await press(close);
      await expect.poll(preview).toBeUndefined();
      expect(focusedRow()).toBe('ses_3');
      await press('k');
      await expect.poll(focusedRow).toBe('ses_2');
    }
  });

  test('previews available data if the rest fails to load', async () => {
    delete service.answers.getSessionFacts;
    await press(' ');
    await expect.poll(() => page.getByRole('alert').query()?.textContent).toContain('Not found');
    expect(preview()).toBe(titleOf(2));
    await press('j');
    await expect.poll(focusedRow).toBe('ses_3');
  });

  test('Enter opens a session, and its menu on the button, which gets the focus back', async () => {
    await press('{Tab}');
    await expect.poll(focused).toBe('More');
    await press('{Enter}');
    await expect.poll(() => document.activeElement?.closest('[role="menu"]')).not.toBeNull();
    await press('j{Escape}');
    await expect.poll(focused).toBe('More');
    expect(address()).toBe('/sessions');
    await press('{Shift>}{Tab}{/Shift}');
    await expect.poll(focusedRow).toBe('ses_2');
    await press('{Enter}');
    await expect.poll(address).toBe('/sessions/ses_2');
  });

  test('keeps its position when the reader returns from a session', async () => {
    const scroller = document.querySelector('#page') as HTMLElement;
    // The list may still be scrolling after the last key.
    await expect
      .poll(() => {
        if (scroller.scrollTop !== 2_200) scroller.scrollTo(0, 2_200);
        return drawnRows().some(({ dataset }) => dataset.session === 'ses_60');
      })
      .toBe(true);
    // The router stores the position shortly after scrolling has ended.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = scroller.scrollTop;
    expect(before).toBeGreaterThan(1_500);
    await page.getByText('Errand 60', { exact: true }).click();
    await expect.poll(address).toBe('/sessions/ses_60');
    await expect.poll(() => document.querySelector('[data-complete]')).not.toBeNull();
    back();
    await expect.poll(() => drawnRows().some(({ dataset }) => dataset.session === 'ses_60')).toBe(true);
    await expect.poll(() => document.querySelector('#page')?.scrollTop).toBe(before);
    await expect.poll(focusedRow).toBe('ses_60');
  });

  test('asks before it deletes, gives the focus back and then focuses the next row', async () => {
    const choose = async () => {
      await press('{Tab}{Enter}');
      await expect.poll(() => document.activeElement?.closest('[role="menu"]')).not.toBeNull();
      await press('{End}');
      await expect.poll(() => document.activeElement?.textContent).toBe('Delete…');
      await press('{Enter}');
      await expect.poll(() => document.querySelector('dialog')?.contains(document.activeElement)).toBe(true);
    };
    await choose();
    await press('{Escape}');
    await expect.poll(focused).toBe('More');
    await press('{Shift>}{Tab}{/Shift}');
    await expect.poll(focusedRow).toBe('ses_2');
    service.answers.deleteSession = ({ sessionId = '' }) => {
      service.answers.searchSessions = () => ({
        sessions: rows.filter(({ session }) => session.sessionId !== sessionId),
        nextCursor: null,
      });
      return { sessionId };
    };
    await choose();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => drawnRows().some(({ dataset }) => dataset.session === 'ses_2')).toBe(false);
    await press('j');
    await expect.poll(focusedRow).toBe('ses_3');
  });
});

test.each([
  ['tool.result', 'output'],
  ['of-another-program', 'event'],
  ['__proto__', 'event'],
  ['constructor', 'event'],
])('a hit in an event of the type %s is called %s, and Tab reaches it', async (eventType, expected) => {
  const hits = [{ sequence: 7, eventType, text: 'some words', marks: [[5, 10] as [number, number]] }];
  await open([{ ...sessionRow('ses_1'), hits }]);
  const kind = () => document.querySelector('[data-session] mark')?.closest('a')?.firstElementChild?.textContent;
  await expect.poll(kind).toBe(expected);
  expect(document.querySelector('[data-session] mark')?.textContent).toBe('words');
  await press('j{Tab}{Tab}{Enter}');
  await expect.poll(address).toContain('/sessions/ses_1?e=7');
});

test('the words of a hit are marked in the colours of the theme, although no session was opened', async () => {
  const hits = [{ sequence: 7, eventType: 'error', text: 'some words', marks: [[5, 10] as [number, number]] }];
  await open([{ ...sessionRow('ses_1'), hits }]);
  await expect.poll(() => document.querySelector('[data-session] mark')).not.toBeNull();
  const colours = (scheme: string) => {
    document.documentElement.style.colorScheme = scheme;
    const { backgroundColor, color } = getComputedStyle(document.querySelector('[data-session] mark') as Element);
    document.documentElement.style.colorScheme = '';
    return `${color} on ${backgroundColor}`;
  };
  // The browser marks black on yellow.
  for (const scheme of ['light', 'dark']) expect(colours(scheme)).not.toBe('rgb(0, 0, 0) on rgb(255, 255, 0)');
  expect(colours('dark')).not.toBe(colours('light'));
});

test('sessions are below their days if they are sorted by time', async () => {
  const at = (day: string) => `${day}T12:00:00.000Z`;
  const list = [
    sessionRow('ses_3', at('2025-03-04')),
    sessionRow('ses_2', at('2025-03-04')),
    sessionRow('ses_1', at('2025-03-03')),
  ];
  await open(list);
  const days = () => [...document.querySelectorAll('[data-day]')].map(({ textContent }) => textContent);
  expect(days()).toEqual(['Tuesday, 4 March 2025', 'Monday, 3 March 2025']);
  const started = () => [...document.querySelectorAll('[data-label="Started"]')].map(({ textContent }) => textContent);
  const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' }).format(Date.parse(at('2025-03-04')));
  expect(started()).toEqual([time, time, time]);
  await page.getByRole('button', { name: 'Cost' }).click();
  await expect.poll(days).toEqual([]);
  expect(started()).toEqual(['4 Mar 2025', '4 Mar 2025', '3 Mar 2025']);
});

test('the legend has the mark of each state, and no two states share a mark', async () => {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const heardOf = (sessionId: string, lastEventAt: string): SessionRow => {
    const row = sessionRow(sessionId);
    return { ...row, session: { ...row.session, status: 'active' }, summary: { ...row.summary, lastEventAt } };
  };
  await open([heardOf('ses_1', at(1)), heardOf('ses_2', at(60)), heardOf('ses_3', at(3 * 24 * 60))]);
  const legend = page.getByRole('list', { name: 'Marks' });
  await expect.element(legend).toHaveTextContent('LiveQuietEnded');
  const marks = [...document.querySelectorAll('[aria-label="Marks"] li > span')].map(({ className }) => className);
  expect(new Set(marks).size).toBe(3);
});

test('failures are a red number beside the title, and a session without a title has its command or folder', async () => {
  const plain = sessionRow('ses_1', undefined, 3);
  const repository = '/home/ada/shop';
  await open([
    { ...plain, summary: { ...plain.summary, firstCommand: 'npm test', repository } },
    { ...sessionRow('ses_2'), summary: { ...sessionRow('ses_2').summary, repository } },
  ]);
  const titles = () => [...document.querySelectorAll('[data-label="Session"]')].map(({ textContent }) => textContent);
  expect(titles()).toEqual(['$ npm test3', 'in ada/shop']);
  expect(document.querySelector('[data-label="Failed"] .text-bad')?.textContent).toBe('3');
});

test('a title has 400 pixels in a window of 1280', async () => {
  const [first, ...rest] = rows;
  await open([{ ...first, session: { ...first?.session, title: 'An errand '.repeat(40) } } as SessionRow, ...rest]);
  const title = drawnRows()[0]?.querySelector('[data-label="Session"]');
  expect(title?.clientWidth).toBeGreaterThanOrEqual(400);
});

test('where a session ran is shown up to its branch in a window of 1280', async () => {
  const [first] = rows;
  await open([
    {
      ...first,
      summary: { ...first?.summary, repository: 'github.com/harbour/tidewatch', gitBranch: 'main' },
    } as SessionRow,
  ]);
  const where = drawnRows()[0]?.querySelector('[data-label="Where"]') as HTMLElement;
  const text = document.createTreeWalker(where, NodeFilter.SHOW_TEXT).nextNode() as Text;
  const range = document.createRange();
  const end = text.data.indexOf('main') + 'main'.length;
  expect(end).toBeGreaterThan(10);
  range.setStart(text, end - 1);
  range.setEnd(text, end);
  // Room for the ellipsis.
  expect(range.getBoundingClientRect().right).toBeLessThanOrEqual(where.getBoundingClientRect().right - 16);
});
