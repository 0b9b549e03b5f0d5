import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { SessionFacts } from '../../contract/review.ts';
import { sessionRow } from '../test/rows.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { drawnRows, expectAt, rowOf, wordsOf } from '../test/timeline.ts';
import { call, type Given, result } from './model/test/events.ts';

const EVENTS: Given[] = [
  ['user.message', { text: 'Go on.' }],
  call('a', 'Edit', { file_path: '/a.ts', old_string: 'a', new_string: 'b' }),
  result('a'),
  ['assistant.message', { text: 'All is well.' }],
];

let address: () => string;
let close: () => Promise<void>;

async function open(query = '', facts: Partial<SessionFacts> = {}, events = EVENTS): Promise<void> {
  const service = createService(events);
  const { getSessionFacts } = service.answers;
  service.answers.getSessionFacts = (given) => ({ ...(getSessionFacts?.(given) as SessionFacts), ...facts });
  ({ address, close } = await show(`/sessions/ses_1${query}`, service));
  await expect.poll(() => document.querySelector('[data-complete="true"]')).not.toBeNull();
}
const press = (keys: string) => userEvent.keyboard(keys);
const status = () => wordsOf(document.querySelector('[data-part="notice"]') ?? undefined);

beforeEach(() => localStorage.clear());
afterEach(() => page.viewport(1280, 800));
afterEach(() => void vi.restoreAllMocks());

test.each(['[1]', '7', '{', '[["ses_1", true, [1]]]', '[["ses_1", 1, []]]'])(
  'a session opens with folds %s stored by another version',
  async (kept) => {
    localStorage.setItem('folds', kept);
    localStorage.setItem('inspector', kept);
    await open();
    await expect.poll(() => drawnRows().length).toBe(3);
  },
);

test('a session without times has no strip, no duration and event numbers instead of times', async () => {
  await open(
    '',
    {},
    EVENTS.map(([type, payload]): Given => [type, { ...payload, occurredAt: undefined }]),
  );
  await expect.poll(() => drawnRows().length).toBe(3);
  expect(page.getByRole('slider', { name: 'Position in the session' }).query()).toBeNull();
  const isShown = (selector: string) => document.querySelector(selector)?.checkVisibility();
  expect([isShown('.timeline-clock'), isShown('.timeline-number')]).toEqual([false, true]);
});

test('while only a part of its events is loaded, the header has the figures of the whole session', async () => {
  const failing: Given[] = [
    ['user.message', { text: 'Go on.' }],
    call('a', 'Bash', { command: 'make' }),
    result('a', { isError: true }),
    ['user.message', { text: 'Again.' }],
    call('b', 'Bash', { command: 'make' }),
    result('b'),
  ];
  const row = sessionRow('ses_1');
  row.summary = { ...row.summary, prompts: 2, toolCalls: 2, inputTokens: 5000, outputTokens: 70, summarizedThrough: 6 };
  const service = createService(failing, [row]);
  const { getEventWindow } = service.answers;
  let finish = () => {};
  service.answers.getEventWindow = (given) => {
    const answer = JSON.stringify(getEventWindow?.(given.from === '1' ? { ...given, limit: '3' } : given));
    const late = new TransformStream<Uint8Array, Uint8Array>();
    finish = () => void new Blob([answer]).stream().pipeTo(late.writable);
    if (given.from === '1') finish();
    return new Response(late.readable) as never;
  };
  await show('/sessions/ses_1', service);
  await expect.poll(() => drawnRows().length).toBe(2);
  const about = () => wordsOf(document.querySelector('[aria-label="About this session"]') ?? undefined);
  const outcome = () => wordsOf(document.querySelector('[aria-label="Outcome"]') ?? undefined);
  await expect.poll(about).toContain('2 prompts');
  expect(about()).toContain('2 tool calls');
  expect(about()).toContain('5,000 tokens in, 70 out');
  expect(outcome()).not.toContain('failure');
  finish();
  await expect.poll(outcome).toContain('1 failure, recovered');
  expect(about()).toContain('2 prompts');
});

describe('a part that fails to render says so, and the session stays:', () => {
  beforeEach(() => void vi.spyOn(console, 'error').mockReturnValue());
  const told = (of: string) => expect.element(page.getByText(`${of} cannot be shown.`)).toBeVisible();

  test('the strip', async () => {
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(() => {
      throw new Error('of this canvas');
    });
    await open();
    await told('The strip');
    await expect.poll(() => drawnRows().length).toBe(3);
  });

  // Facts of a service that is newer than the page.
  const milestone = { kind: 'unheard-of', text: '', sequence: 1, time: '2026-11-22T12:00:00.000Z' };
  const facts = { milestones: [milestone], commands: 7, folder: 7 } as unknown as Partial<SessionFacts>;

  test('prompts, and the inspector without a selected row', async () => {
    await open('', facts);
    await told('The prompts');
    await expect.poll(() => drawnRows().length).toBe(3);
    await press('{Enter}');
    await told('The event');
    await press('j');
    await expect.element(page.getByText('The event cannot be shown.')).not.toBeInTheDocument();
    await expectAt(1);
  });

  test('changes', async () => {
    await open('?view=changes', facts);
    await told('The list of changes');
    await page.getByRole('button', { name: 'Timeline' }).click();
    await expect.poll(() => drawnRows().length).toBe(3);
  });
});

describe('the page shows a notice', () => {
  test('if a link names an event past the end, until the next key', async () => {
    await open('?e=999');
    await expect.poll(status).toBe('That event does not exist: this session has 4 events.');
    await expectAt(4);
    await press('k');
    await expectAt(2);
    expect(status()).toBe('');
  });

  test('if the range of a link is past the end, and the strip shows the whole session', async () => {
    await open('?from=900&to=950');
    await expect.poll(status).toContain('does not exist');
    expect(page.getByRole('button', { name: /^events 900/ }).query()).toBeNull();
  });

  test('if the filter of a link hides its event', async () => {
    await open('?e=4&show=prompts');
    await expect.poll(status).toContain('All rows are shown again');
    await expectAt(4);
    expect(address()).not.toContain('show=');
  });

  test('once a link is copied', async () => {
    await open('?e=4');
    await expectAt(4);
    expect(status()).toBe('');
    await press('y');
    await expect.poll(status).toBe('The link is copied.');
  });
});

test('a row that was opened with the mouse has the focus: Enter opens the inspector and leaves the row open', async () => {
  await open('?e=4');
  await expectAt(4);
  const fold = () => rowOf(2)?.querySelector('.fold');
  await userEvent.click(fold() as Element);
  await expect.poll(() => fold()?.ariaExpanded).toBe('true');
  expect(document.activeElement).toBe(rowOf(2));
  await press('{Enter}');
  await expect.poll(() => page.getByRole('complementary', { name: 'Inspector' }).query()).not.toBeNull();
  expect(fold()?.ariaExpanded).toBe('true');
});

test.each<[expected: string, facts: Partial<SessionFacts>]>([
  ['nothing', {}],
  ['content kept until 1 Mar 2027', { contentKeptUntil: { at: '2027-03-01T08:00:00.000Z', days: 90 } }],
  [
    'content kept until 1 Mar 2027',
    {
      contentKeptUntil: { at: '2027-03-01T08:00:00.000Z', days: 90, target: { kind: 'organization' } },
      keptUntil: { at: '2028-03-01T08:00:00.000Z', days: 456 },
    },
  ],
  [
    'kept until 1 Mar 2027',
    {
      contentKeptUntil: { at: '2027-03-01T08:00:00.000Z', days: 90 },
      keptUntil: { at: '2027-03-01T08:00:00.000Z', days: 90 },
    },
  ],
  [
    'facts kept until 1 Mar 2027',
    {
      contentRemoved: { at: '2026-03-01T08:00:00.000Z', days: 90 },
      keptUntil: { at: '2027-03-01T08:00:00.000Z', days: 456 },
    },
  ],
  ['nothing', { holdId: 'hld_1', keptUntil: { at: '2027-03-01T08:00:00.000Z', days: 90 } }],
])('the details of a session show %s by the retention rules', async (expected, facts) => {
  await open('', facts);
  await expect.element(page.getByText('4 events')).toBeVisible();
  const kept = page.getByText(/kept until/);
  if (expected === 'nothing') return expect(kept.query()).toBeNull();
  await expect.element(kept).toHaveTextContent(expected);
  await expect.element(kept).toHaveAttribute('title', expect.stringMatching(/^Then .* says\. New events/));
});

test('on a phone, the header leaves room for the timeline, and nothing scrolls sideways', async () => {
  for (const [width, height] of [
    [390, 844],
    [320, 640],
  ] as const) {
    await page.viewport(width, height);
    await open();
    await expect.poll(() => drawnRows().length).toBe(3);
    expect(document.querySelector('main header')?.clientHeight).toBeLessThan(120);
    expect(document.documentElement.scrollWidth).toBe(width);
    await expect.element(page.getByRole('button', { name: 'Copy link' })).toBeVisible();
    await close();
  }
});

test('one prompt is a stop of Tab, arrow keys reach the others, and a link skips them all', async () => {
  await open('', { milestones: [{ kind: 'commit', text: 'Done', hash: 'abcdef0', sequence: 4 }] });
  const lines = () => page.getByRole('navigation', { name: 'Prompts' }).getByRole('button').elements() as HTMLElement[];
  await expect.poll(() => lines().map(({ tabIndex }) => tabIndex)).toEqual([0, -1]);
  lines()[0]?.focus();
  await press('{ArrowDown}{ArrowDown}');
  await expect.poll(() => document.activeElement).toBe(lines()[1]);
  expect(lines().map(({ tabIndex }) => tabIndex)).toEqual([-1, 0]);
  await press('{Home}');
  await expect.poll(() => document.activeElement).toBe(lines()[0]);
  page.getByRole('link', { name: 'Skip to the timeline' }).element().focus();
  await press('{Enter}');
  await expect.poll(() => document.activeElement?.ariaLabel).toBe('Timeline');
});

test('times are shown as chosen in the menu of the person', async () => {
  await open();
  const clock = () => rowOf(2)?.querySelector('time')?.textContent;
  for (const [choice, told] of [
    ['UTC', '09:00:01Z'],
    ['Time since start', '+1.0 s'],
  ] as const) {
    await page.getByRole('button', { name: /theme, times/ }).click();
    await page.getByRole('menuitemradio', { name: choice }).click();
    await expect.poll(clock).toBe(told);
  }
  await press('t');
  await expect.poll(clock).toBe('09:00:01Z');
});

test('each row begins where the previous one ends', async () => {
  // A row that differs from its estimate.
  const list = ['assistant.message', { text: '- one\n\n- two\n\n- three\n\n1. one\n\n2. two' }] satisfies Given;
  await open('', {}, [...EVENTS.slice(0, 3), list, ...EVENTS.slice(3)]);
  await expect.poll(() => rowOf(2)?.offsetHeight).toBe(24);
  const boxes = () => drawnRows().map((row) => row.getBoundingClientRect());
  const gaps = () => boxes().map(({ bottom }, at) => Math.round((boxes()[at + 1]?.top ?? bottom) - bottom));
  await expect.poll(gaps).toEqual([0, 0, 0, 0]);
});

test('the colours of the strip are explained', async () => {
  await open();
  await press('?');
  await expect.element(page.getByText('a failure: a dot at the bottom')).toBeVisible();
});

describe('the outcome under the title', () => {
  const facts = { tests: { passed: true, sequence: 3 }, commits: { count: 1, sequence: 5 } };
  const events: Given[] = [
    ['user.message', { text: 'Mend it.' }],
    call('t', 'Bash', { command: 'npm test' }),
    result('t', { isError: true }),
    call('c', 'Bash', { command: 'git commit -am "Mend it"' }),
    result('c'),
    call('a', 'Edit', { file_path: '/a.ts', old_string: 'a', new_string: 'b\nc' }),
    result('a'),
  ];
  const parts = () => [...document.querySelectorAll('[aria-label="Outcome"] > li')].map((part) => part.textContent);
  const part = (name: RegExp) => page.getByRole('list', { name: 'Outcome' }).getByRole('button', { name });

  test('shows the result of tests, commits, changes and failures', async () => {
    await open('', facts, events);
    await expect
      .poll(parts)
      .toEqual([
        'Tests ended green',
        '1 commit, not pushed',
        '1 file +2 −1',
        '1 failure, not recovered',
        expect.any(String),
      ]);
  });

  test('links to each of them', async () => {
    await open('', facts, events);
    await part(/^Tests ended green/).click();
    await expect.poll(address).toContain('e=3');
    await part(/^1 commit/).click();
    await expect.poll(address).toContain('e=5');
    await part(/^1 failure/).click();
    await expect.poll(address).toContain('e=2');
    await part(/^1 file/).click();
    await expect.poll(address).toContain('view=changes');
  });
});

test('a long prompt shows its beginning, until the reader unfolds it or a search finds a word further down', async () => {
  const text = Array.from({ length: 40 }, (_, line) => `Step ${line + 1}.`).join('\n\n');
  await open('', {}, [['user.message', { text }]]);
  await expect.poll(() => wordsOf(rowOf(1))).toContain('Step 6.');
  expect(wordsOf(rowOf(1))).not.toContain('Step 7.');
  await page.getByRole('button', { name: /^Show all/ }).click();
  await expect.poll(() => wordsOf(rowOf(1))).toContain('Step 40.');
});

test('a drag over the strip shows the range from its start and dims the rest until Esc', async () => {
  const events = Array.from({ length: 200 }, (_, at): Given => ['user.message', { text: `Prompt ${at + 1}` }]);
  await open('', {}, events);
  // The strip gets the events a little later than the rows.
  await expect.poll(() => document.querySelector('.strip [role="slider"]')?.ariaValueMax).toBe('200');
  const canvas = document.querySelector('.strip canvas') as HTMLElement;
  const { left, top, width } = canvas.getBoundingClientRect();
  // Only pointers of real events can be captured.
  canvas.setPointerCapture = () => {};
  const at = async (type: string, place: number) => {
    canvas.dispatchEvent(
      new PointerEvent(type, { bubbles: true, pointerId: 1, clientX: left + place * width, clientY: top + 30 }),
    );
    await new Promise(requestAnimationFrame);
  };
  await at('pointerdown', 0.5);
  await at('pointermove', 0.6);
  await at('pointerup', 0.75);
  await expect.poll(address).toMatch(/from=10\d/);
  await expect.poll(() => drawnRows().some((row) => row.matches('[data-in-range]'))).toBe(true);
  await expect.element(page.getByRole('button', { name: /^events 10\d to 1[45]\d/ })).toBeVisible();
  expect(document.querySelector('.timeline')?.hasAttribute('data-range')).toBe(true);
  await press('{Escape}');
  await expect.poll(address).not.toContain('from=');
  expect(document.querySelector('.timeline')?.hasAttribute('data-range')).toBe(false);
});

test('on a low screen, header and strip make room for the rows and return at the first row', async () => {
  await page.viewport(640, 400);
  await open(
    '',
    {},
    Array.from({ length: 60 }, (_, at): Given => ['user.message', { text: `Prompt ${at + 1}` }]),
  );
  const bottom = () => document.querySelector('.strip')?.getBoundingClientRect().bottom ?? 0;
  await expect.poll(bottom).toBeGreaterThan(60);
  await press('G');
  await expect.poll(bottom).toBeLessThanOrEqual(0);
  expect(document.querySelector('.timeline')?.clientHeight).toBeGreaterThan(300);
  await press('gg');
  await expect.poll(bottom).toBeGreaterThan(60);
});

test('the commands of a session are in the palette only on its page', async () => {
  const { close } = await show('/sessions/ses_1', createService([['user.message', { text: 'Go on.' }]]));
  await expect.poll(() => document.querySelector('[data-complete]')).not.toBeNull();
  await userEvent.keyboard('{Control>}k{/Control}');
  const options = () => [...document.querySelectorAll('dialog [role="option"]')].map(({ textContent }) => textContent);
  await expect.poll(options).toEqual(expect.arrayContaining(['Next failure', 'Open all rows']));
  await page.getByRole('option', { name: 'Copy the link to this event' }).click();
  await expect.poll(() => document.body.textContent).toMatch(/The link is copied|refused to copy the link/);
  await close();
  await show('/members', createService());
  await userEvent.keyboard('{Control>}k{/Control}');
  await expect.poll(() => options().length).toBeGreaterThan(5);
  expect(options()).not.toContain('Next failure');
});

test('a related session without a title is named by its first prompt', async () => {
  const { session } = sessionRow('ses_2');
  const rows = [
    sessionRow('ses_1'),
    { ...sessionRow('ses_2'), summary: { ...sessionRow('ses_2').summary, firstPrompt: 'A report per month' } },
  ];
  const service = createService(EVENTS, rows);
  const { getSessionFacts } = service.answers;
  service.answers.getSessionFacts = (given) => ({
    ...(getSessionFacts?.(given) as SessionFacts),
    related: [{ relation: 'forkedFrom', session }],
  });
  await show('/sessions/ses_1', service);
  const related = page.getByRole('list', { name: 'Related sessions' });
  await expect.element(related.getByRole('link', { name: 'A report per month' })).toBeVisible();
});

test('the inspector shows the picture that a call returned, and does not call it an empty output', async () => {
  const data = 'R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
  const output = [{ type: 'image', source: { type: 'base64', media_type: 'image/gif', data } }];
  await open('?e=1', {}, [call('a'), result('a', { output })]);
  await expectAt(1);
  await press('{Enter}');
  const inspector = page.getByRole('complementary', { name: 'Inspector' });
  await expect.element(inspector.getByRole('img', { name: 'Attachment 1' })).toBeVisible();
  expect(wordsOf(inspector.element())).not.toContain('No output');
});
