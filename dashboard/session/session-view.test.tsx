import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { cleanup } from 'vitest-browser-react';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { current, drawnRows, expectAt, rowOf, sequenceOf, wordsOf } from '../test/timeline.ts';
import { call, type Given, result } from './model/test/events.ts';

const prompt = (text: string): Given => ['user.message', { text }];
const answer = (text: string): Given => ['assistant.message', { text }];
const EVENTS = [
  ...[
    prompt('First'),
    answer('One **bold** word'),
    call('a', 'Bash', { command: 'ls' }),
    result('a', { output: 'a \u001b[31mlist\u001b[0ming of three' }),
  ],
  ...[prompt('Second'), answer('Two -rf'), prompt('Third'), answer('Three')],
];

let address: () => string;
let back: () => void;

beforeEach(async () => {
  ({ address, back } = await show('/sessions/ses_1', createService(EVENTS)));
  await expect.poll(() => drawnRows().length).toBe(7);
  await press('jj');
  await expectAt(2);
});
afterEach(() => page.viewport(1280, 800));

const press = (keys: string) => userEvent.keyboard(keys);
const focused = () => document.activeElement?.ariaLabel ?? document.activeElement?.textContent;
const button = (name: string) => page.getByRole('button', { name, exact: true });
const inspector = () => page.getByRole('complementary', { name: 'Inspector' });
const searchBar = () => document.querySelector('search') ?? undefined;
const isThere = (locator: ReturnType<typeof inspector>) => locator.query() !== null;

test('only the current row is a stop of Tab, and it has the ring', async () => {
  expect(drawnRows().filter(({ tabIndex }) => tabIndex === 0)).toEqual([current()]);
  expect(current()?.matches(':focus-visible')).toBe(true);
  await press('j');
  await expectAt(3);
  expect(drawnRows().filter(({ tabIndex }) => tabIndex === 0)).toEqual([current()]);
});

test('open rows are open when the session is opened again, until all are closed', async () => {
  const events = [prompt('First'), ['assistant.reasoning', { text: 'One\n\nTwo' }]] satisfies Given[];
  const reopen = async () => {
    await cleanup();
    await show('/sessions/ses_1', createService(events));
    await expect.poll(() => drawnRows().length).toBe(2);
  };
  const isOpen = () => rowOf(2)?.querySelector('[aria-expanded]')?.ariaExpanded;
  await reopen();
  for (const [key, expected] of [
    ['e', 'true'],
    ['E', 'false'],
  ] as const) {
    await press(key);
    await expect.poll(isOpen).toBe(expected);
    await reopen();
    await expect.poll(isOpen).toBe(expected);
  }
});

test('new rows are in the document before the strip is drawn again in a later task', async () => {
  await cleanup();
  const service = createService([prompt('First'), answer('One')]);
  await show('/sessions/ses_1', service);
  await expect.poll(() => drawnRows().length).toBe(2);
  let noticed = 2;
  const watch = new MutationObserver(() => {
    noticed = drawnRows().length;
  });
  watch.observe(document.body, { childList: true, subtree: true });
  const noticedAtDrawing: number[] = [];
  // Each drawing of the strip begins with this.
  vi.spyOn(CanvasRenderingContext2D.prototype, 'scale').mockImplementation(() => {
    if (drawnRows().length === 3) noticedAtDrawing.push(noticed);
  });
  service.append(answer('Two'));
  await expect.poll(() => noticedAtDrawing).toEqual([3]);
  watch.disconnect();
  vi.restoreAllMocks();
});

describe('the Back button', () => {
  test('returns from another view of the session to the timeline, and not to the page before the session', async () => {
    await page.getByRole('button', { name: 'Changes' }).click();
    await expect.poll(address).toContain('view=changes');
    back();
    await expect.poll(address).not.toContain('view=');
    await expect.poll(address).toContain('/sessions/ses_1');
    await expect.poll(() => drawnRows().length).toBe(7);
  });

  test('returns from a prompt chosen in the outline to the previous row', async () => {
    await expect.poll(address).toContain('e=2');
    await page.getByRole('navigation', { name: 'Prompts' }).getByText('Third').click();
    await expectAt(7);
    await expect.poll(address).toContain('e=7');
    back();
    await expectAt(2);
  });
});

describe('a dialog or a menu', () => {
  test('takes the keys, and gives the focus back to the row', async () => {
    await press('?');
    await expect.poll(() => document.querySelector('dialog')?.contains(document.activeElement)).toBe(true);
    await press('j');
    await press('{Escape}');
    await expect.poll(() => document.querySelector('dialog')).toBeNull();
    await expectAt(2);
  });

  test('gives the focus back to its button', async () => {
    for (const close of ['{Escape}', '{Enter}']) {
      button('Keys').element().focus();
      await press('{Enter}');
      await expect.poll(() => document.querySelector('dialog')?.contains(document.activeElement)).toBe(true);
      await press(close);
      await expect.poll(() => document.querySelector('dialog')).toBeNull();
      await expect.poll(focused).toBe('Keys');
    }
  });

  test('has its own keys as a menu, and Escape returns to its button', async () => {
    button('Download').element().focus();
    await press('{Enter}');
    await expect.poll(() => document.activeElement?.role).toBe('menuitem');
    const first = focused();
    await press('{ArrowDown}');
    await expect.poll(focused).not.toBe(first);
    await press('j{Escape}');
    await expect.poll(focused).toBe('Download');
    expect(sequenceOf(current())).toBe(2);
  });
});

test('Escape closes one panel at a time, and the row has the focus each time', async () => {
  await userEvent.click(rowOf(5) as Element, { modifiers: ['Shift'] });
  await expect.poll(address).toContain('from=2&to=5');
  await press('{Enter}');
  await expect.poll(() => isThere(inspector())).toBe(true);
  await press('/');
  await expect.poll(focused).toBe('Find in the session');
  const open = () => [searchBar() !== undefined, isThere(inspector()), address().includes('from=')];
  for (const expected of [
    [false, true, true],
    [false, false, true],
    [false, false, false],
  ]) {
    await press('{Escape}');
    await expect.poll(open).toEqual(expected);
    await expectAt(5);
  }
});

test('keys are letters during typing', async () => {
  await press('/');
  await expect.poll(focused).toBe('Find in the session');
  await press('jj G?');
  expect((document.activeElement as HTMLInputElement).value).toBe('jj G?');
  expect(sequenceOf(current())).toBe(2);
});

describe('the search', () => {
  const marked = () => [...(CSS.highlights.get('found') ?? [])].map(String);
  const search = async (words: string) => {
    await press('/');
    await expect.poll(focused).toBe('Find in the session');
    await press(words);
  };

  test('says why it cannot search for something', async () => {
    await search('=>');
    await expect.poll(() => wordsOf(searchBar())).toContain('it has neither letters nor digits');
  });

  test('treats filters of the list of sessions as words and marks them', async () => {
    await search('-rf');
    await expect.poll(marked).toEqual(['-rf']);
  });

  test('moves from match to match during typing and marks the words', async () => {
    await search('wo');
    await expect.poll(() => wordsOf(searchBar())).toContain('2');
    await press('{Enter}');
    await expect.poll(() => sequenceOf(current())).toBe(2);
    await press('{Enter}');
    await expect.poll(() => sequenceOf(current())).toBe(6);
    expect(focused()).toBe('Find in the session');
    await expect.poll(() => [...new Set(marked())]).toEqual(['wo']);
    await press('{Escape}');
    await expectAt(6);
    await expect.poll(() => CSS.highlights.has('found')).toBe(false);
  });

  test('marks words that change their colour in the middle', async () => {
    await press('jo');
    await expect.poll(() => wordsOf(current())).toContain('listing of three');
    await search('LISTING');
    await expect.poll(marked).toEqual(['listing']);
    await press('{Escape}');
    await search('"a listing of"');
    await expect.poll(marked).toEqual(['a listing of']);
  });
});

describe('the inspector', () => {
  const separator = () => page.getByRole('separator', { name: 'Width of the inspector' });
  const width = () => inspector().element().clientWidth;

  beforeEach(async () => {
    await press('{Enter}');
    await expect.poll(() => isThere(inspector())).toBe(true);
  });

  test('shows the current row, which keeps the focus', async () => {
    expect(wordsOf(inspector().element())).toContain('event 2');
    await press('j');
    await expect.poll(() => wordsOf(inspector().element())).toContain('listing');
    await expectAt(3);
    page.getByRole('tab', { name: 'output' }).element().focus();
    await press('{ArrowRight}');
    await expect.poll(() => page.getByRole('tab', { selected: true }).query()?.textContent).toBe('input');
    await press('k');
    await expectAt(2);
  });

  test('keeps the width that arrow keys set within its limits, also when it is opened again', async () => {
    separator().element().focus();
    const before = width();
    await press('{ArrowLeft}{ArrowLeft}');
    await expect.poll(width).toBe(before + 80);
    const said = (name: string) => Number(separator().element().getAttribute(`aria-value${name}`));
    for (const [key, end] of [
      ['ArrowLeft', 'max'],
      ['ArrowRight', 'min'],
    ] as const) {
      await press(`{${key}>30/}`);
      await expect.poll(() => said('now')).toBe(said(end));
      expect(Math.abs(width() - said(end))).toBeLessThan(2);
    }
    await press('{Escape}{Enter}');
    await expect.poll(() => Math.abs(width() - said('min'))).toBeLessThan(2);
  });

  test('leaves room for the rows in a window that is narrower than it was', async () => {
    localStorage.setItem('inspector', '960');
    await press('{Escape}');
    await page.viewport(1000, 800);
    await press('{Enter}');
    await expect.poll(() => inspector().query()?.clientWidth).toBeLessThan(710);
  });

  test('says so if it may not copy', async () => {
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValueOnce(new Error('not allowed'));
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await expect.poll(() => wordsOf(inspector().element())).toContain('Select the text and copy it');
  });

  test('copies its event as Markdown', async () => {
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await expect.poll(() => wordsOf(inspector().element())).toContain('Copied');
    const field = document.body.appendChild(document.createElement('textarea'));
    field.focus();
    await userEvent.paste();
    await expect.poll(() => field.value).toContain('One **bold** word');
    field.remove();
  });
});

describe('the strip', () => {
  const strip = () => page.getByRole('slider', { name: 'Position in the session' }).element();

  test('moves from turn to turn with its keys, several times in a row', async () => {
    // The strip is drawn after the rows, and has no turns before.
    await expect.poll(() => strip().ariaValueText).toBe('turn 1 of 3: First');
    strip().focus();
    await press('{Home}');
    await expect.poll(() => sequenceOf(current())).toBe(1);
    await press('{ArrowRight}');
    await expect.poll(() => sequenceOf(current())).toBe(5);
    await press('{ArrowRight}');
    await expect.poll(() => sequenceOf(current())).toBe(7);
    expect(strip().ariaValueText).toBe('turn 3 of 3: Third');
  });

  test('is drawn at its width', async () => {
    const canvas = () => strip().querySelector('canvas') as HTMLCanvasElement;
    const fits = () => Math.abs(canvas().width / devicePixelRatio - strip().getBoundingClientRect().width) < 2;
    await expect.poll(fits).toBe(true);
    const before = canvas().width;
    await page.viewport(800, 800);
    await expect.poll(() => canvas().width).toBeLessThan(before);
    await expect.poll(fits).toBe(true);
  });
});
