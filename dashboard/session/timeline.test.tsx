import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';
import {
  area,
  current,
  drawnRows,
  expectAt,
  isInSight,
  placeAtRest,
  rowOf,
  sequenceOf,
  wordsOf,
} from '../test/timeline.ts';
import { call, type Given, result } from './model/test/events.ts';

const prompt = (text: string): Given => ['user.message', { text }];
const answer = (text: string): Given => ['assistant.message', { text }];
const answers = (count: number) =>
  Array.from({ length: count }, (_, index) => answer(`Answer ${index + 1}\n\n${'words '.repeat(40)}`));

let service: Service;
let address: () => string;
let close: () => Promise<void>;

async function open(events: readonly Given[], query = ''): Promise<void> {
  service = createService(events);
  ({ address, close } = await show(`/sessions/ses_1${query}`, service));
  await expect.poll(() => document.querySelector('[data-complete="true"] .timeline-row')).not.toBeNull();
}
const press = (keys: string) => userEvent.keyboard(keys);
const setSize = () => Number(drawnRows()[0]?.ariaSetSize);

afterEach(() => page.viewport(1280, 800));

describe('a timeline of thousands of rows', () => {
  beforeEach(() => open([prompt('Go on.'), ...answers(2_000)]));

  test('draws visible rows, and keys reach every row', async () => {
    await press('j');
    await expectAt(1);
    expect(drawnRows().length).toBeLessThan(40);
    await press('{Shift>}G{/Shift}');
    await expectAt(2_001);
    await press('kk');
    await expectAt(1_999);
    await press('gg');
    await expectAt(1);
    expect(drawnRows().length).toBeLessThan(40);
    expect(setSize()).toBe(2_001);
  });

  test('keeps the focus on its row when that is scrolled away, and continues from there', async () => {
    await press('jj');
    await expectAt(2);
    area().scrollTo(0, 60_000);
    await expect.poll(() => drawnRows().some((row) => sequenceOf(row) > 300)).toBe(true);
    expect(sequenceOf(document.activeElement as HTMLElement)).toBe(2);
    await press('j');
    await expectAt(3);
  });
});

describe('a reader who scrolled away', () => {
  const words = [prompt('Go on.'), ...answers(2_000)];
  const firstSeen = () =>
    drawnRows().find((row) => row.getBoundingClientRect().bottom > area().getBoundingClientRect().top);
  const topOf = (row: HTMLElement | undefined) =>
    row ? Math.round(row.getBoundingClientRect().top - area().getBoundingClientRect().top) : Number.NaN;
  const kept = () => localStorage.getItem('places') ?? '';

  /** Scrolls into the middle. @returns the first visible event, and its position */
  async function scrollAway() {
    area().scrollTo(0, 60_000);
    await expect.poll(() => sequenceOf(firstSeen())).toBeGreaterThan(300);
    area().scrollBy(0, 37);
    const before = kept();
    await expect.poll(kept).not.toBe(before);
    return { sequence: sequenceOf(firstSeen()), top: topOf(firstSeen()) };
  }

  test('is back at the same event after the session is opened again, and is told so', async () => {
    await open(words);
    const { sequence, top } = await scrollAway();
    await close();
    await open(words);
    await expect.poll(() => sequenceOf(firstSeen())).toBe(sequence);
    await expect.poll(() => Math.abs(topOf(firstSeen()) - top)).toBeLessThan(3);
    await expect.element(page.getByText(/You are back where you stopped reading/)).toBeVisible();
    await press('gg');
    await expectAt(1);
  });

  test('is back at the same event after another view was open', async () => {
    await open(words);
    const { sequence } = await scrollAway();
    await page.getByRole('button', { name: 'Changes' }).click();
    await expect.poll(() => document.querySelector('.timeline')).toBeNull();
    await page.getByRole('button', { name: 'Timeline' }).click();
    await expect.poll(() => sequenceOf(firstSeen())).toBe(sequence);
  });

  test('is led to the event of a link', async () => {
    await open(words);
    await scrollAway();
    await close();
    await open(words, '?e=5');
    await expectAt(5);
  });

  test('begins at the start after scrolling back to it', async () => {
    await open(words);
    await scrollAway();
    area().scrollTo(0, 0);
    await expect.poll(kept).toBe('[]');
    await close();
    await open(words);
    expect(sequenceOf(firstSeen())).toBe(1);
  });
});

test('rows do not overlap when the window becomes narrow', async () => {
  await open([prompt('Go on.'), ...answers(50)]);
  const tallest = () => Math.max(...drawnRows().map((row) => row.offsetHeight));
  const before = tallest();
  await page.viewport(420, 800);
  // The amount depends on the fonts of the machine.
  await expect.poll(tallest).toBeGreaterThan(before);
  const overlaps = () => {
    const boxes = drawnRows().map((row) => row.getBoundingClientRect());
    return boxes.filter((box, index) => box.bottom > (boxes[index + 1]?.top ?? Number.POSITIVE_INFINITY) + 1).length;
  };
  await expect.poll(overlaps).toBe(0);
});

describe('while events arrive, the current row stays in place,', () => {
  test('if they are below it', async () => {
    await open([prompt('Go on.'), ...answers(600)], '?e=300');
    await expectAt(300);
    await press('j');
    await expectAt(301);
    const before = await placeAtRest();
    service.append(answer('One more'), answer('And one'));
    await expect.element(page.getByRole('button', { name: '2 new' })).toBeVisible();
    expect(await placeAtRest()).toBeCloseTo(before, 0);
    await expectAt(301);
  });

  test('if they are above it', async () => {
    const inside = (text: string): Given => ['assistant.message', { text, source: { subagent: 'h' } }];
    const started: Given = ['subagent.started', { subagent: 'h', callId: 'a', description: 'Look' }];
    await open([prompt('Go on.'), call('a', 'Task'), started, inside('Looking'), ...answers(300)]);
    await press('e');
    await press('{Shift>}G{/Shift}kkkkkkkk');
    await expectAt(296);
    const before = await placeAtRest();
    const count = setSize();
    service.append(inside('Found one'), inside('Found two'));
    await expect.poll(setSize).toBe(count + 2);
    expect(await placeAtRest()).toBeCloseTo(before, 0);
    await expectAt(296);
  });
});

test('a visible end is followed, and a reader further up is not moved', async () => {
  await open([prompt('Go on.'), ...answers(60)]);
  await press('{Shift>}G{/Shift}');
  await expectAt(61);
  await expect.poll(() => page.getByRole('button', { name: 'Go to the end' }).query()).toBeNull();
  service.append(answer('One more'));
  await expect.poll(() => isInSight(rowOf(62))).toBe(true);
  expect(sequenceOf(current())).toBe(61);
});

describe('calls', () => {
  const output = 'first line\nAssertionError: 1 != 2';
  const some = (name: string): Given[] => [1, 2, 3, 4].flatMap((n) => [call(`${name}${n}`), result(`${name}${n}`)]);

  test('open and close with the mouse, o and Space, and their row stays the current one', async () => {
    await open([prompt('Go on.'), call('a', 'Bash', { command: 'npm test' }), result('a', { output })]);
    const row = () => rowOf(2);
    const isOpen = () => row()?.querySelector('.fold')?.ariaExpanded;
    await userEvent.click(row()?.querySelector('.fold') as Element);
    await expect.poll(() => wordsOf(row())).toContain('first line AssertionError: 1 != 2');
    await expectAt(2);
    // So far the button had the focus; from here on it is the row.
    await press('kj');
    for (const [key, expected] of [
      ['o', 'false'],
      [' ', 'true'],
      [' ', 'false'],
    ] as const) {
      await press(key);
      await expect.poll(isOpen).toBe(expected);
      await expectAt(2);
    }
    expect(wordsOf(row())).not.toContain('first line');
  });

  test('that failed are reached with n and p, also in a folded sub-agent', async () => {
    const failed = (id: string, source = {}): Given[] => [
      ['tool.call', { callId: id, name: 'Bash', input: { command: 'npm test' }, source }],
      ['tool.result', { callId: id, isError: true, output, source }],
    ];
    const started: Given = ['subagent.started', { subagent: 'h', callId: 'c', description: 'Look' }];
    await open(
      [prompt('Go on.'), ...some('a'), ...failed('b'), ...answers(80), call('c', 'Task'), started].concat(
        failed('d', { subagent: 'h' }),
        some('e'),
      ),
    );
    await press('n');
    await expectAt(10);
    expect(rowOf(94)).toBeUndefined();
    await press('n');
    await expectAt(94);
    expect(wordsOf(current())).toContain('failed');
    await press('n');
    await expectAt(94);
    await press('p');
    await expectAt(10);
  });

  test('of a link are opened, visible and focused, and o opens their output', async () => {
    await open([prompt('Go on.'), ...answers(400), ...some('a'), ...answers(400)], '?e=405');
    await expectAt(404);
    expect(wordsOf(current())).toContain('Read');
    await press('o');
    await expect.poll(() => wordsOf(current())).toContain('done');
  });
});

test('open and closed rows are restored when the reader returns, also after opening all', async () => {
  localStorage.clear();
  const calls = [1, 2, 3, 4].flatMap((n) => [call(`a${n}`), result(`a${n}`)]);
  for (const [key, rows] of [
    ['e', 6],
    ['{Shift>}E{/Shift}', 2],
    ['jjo', 6],
  ] as const) {
    await open([prompt('Go on.'), ...calls]);
    await press(key);
    await expect.poll(setSize).toBe(rows);
    await close();
    await open([prompt('Go on.'), ...calls]);
    await expect.poll(setSize).toBe(rows);
    await close();
  }
});

test('the address follows the current row and a range marked with Shift', async () => {
  await open([prompt('Go on.'), ...answers(8)]);
  await userEvent.click(rowOf(3)?.querySelector('.prose') as Element);
  await expect.poll(address).toContain('e=3');
  await userEvent.click(rowOf(5)?.querySelector('.prose') as Element, { modifiers: ['Shift'] });
  await expect.poll(address).toContain('from=3&to=5');
  await expect
    .poll(() =>
      drawnRows()
        .filter((row) => row.dataset.inRange)
        .map(sequenceOf),
    )
    .toEqual([3, 4, 5]);
  await press('{Escape}');
  await expect.poll(address).not.toContain('from=');
  await expectAt(5);
});

test('a click with Shift on the line of a call ends a range there and opens nothing', async () => {
  await open([prompt('Go on.'), answer('Yes.'), call('a', 'Bash', { command: 'ls' }), result('a'), answer('Done.')]);
  await userEvent.click(rowOf(1)?.querySelector('.prose') as Element);
  await expect.poll(address).toContain('e=1');
  await userEvent.click(rowOf(3)?.querySelector('.fold') as Element, { modifiers: ['Shift'] });
  await expect.poll(address).toContain('from=1&to=3');
  await expectAt(3);
  expect(rowOf(3)?.querySelector('.fold')?.ariaExpanded).toBe('false');
});

test('the row that ends a range is the current one, even before the address changes', async () => {
  await open([prompt('Go on.'), ...answers(8)]);
  rowOf(3)?.click();
  rowOf(5)?.dispatchEvent(new MouseEvent('click', { bubbles: true, shiftKey: true }));
  await expect.poll(address).toContain('from=3&to=5');
  await expect.poll(address).toContain('e=5');
  await expectAt(5);
});

test('a row that fails to render says so and does not affect others', async () => {
  vi.spyOn(URL, 'canParse').mockImplementation(() => {
    throw new Error('of this one address');
  });
  vi.spyOn(console, 'error').mockReturnValue();
  const fetched = call('a', 'WebFetch', { url: 'https://docs.example' });
  await open([prompt('Go on.'), fetched, result('a'), answer('All is well.')]);
  await press('jjo');
  await expect.poll(() => wordsOf(rowOf(2))).toContain('This event cannot be shown.');
  vi.restoreAllMocks();
  await press('j');
  await expectAt(4);
  expect(wordsOf(current())).toContain('All is well.');
  await press('ko');
  await expect.poll(() => wordsOf(rowOf(2))).toContain('WebFetch');
});

test('events that failed to load can be retried', async () => {
  const refused = createService([prompt('Go on.'), answer('All is well.')]);
  const { getEventWindow } = refused.answers;
  refused.answers.getEventWindow = () => {
    throw new TypeError('Failed to fetch');
  };
  const alert = () => wordsOf(page.getByRole('alert').query() ?? undefined);
  await show('/sessions/ses_1', refused);
  await expect.poll(alert).toContain('The service cannot be reached.');
  // Only after the click, since the page retries by itself once it follows the session.
  const recover = () => Object.assign(refused.answers, { getEventWindow });
  document.addEventListener('click', recover, { capture: true, once: true });
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => wordsOf(rowOf(2))).toContain('All is well.');
  expect(alert()).toBeUndefined();
});
