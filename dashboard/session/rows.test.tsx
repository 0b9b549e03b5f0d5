import { describe, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { area, drawnRows, rowOf, sequenceOf, wordsOf } from '../test/timeline.ts';
import { estimateRow } from './estimate.ts';
import { Group } from './fold-rows.tsx';
import { buildTimeline } from './model/build.ts';
import type { GroupItem, Item, ToolItem } from './model/items.ts';
import { call, entriesOf, type Given, result } from './model/test/events.ts';
import { readTodos } from './todos.tsx';
import { Tool } from './tool-row.tsx';
import { TurnFigures } from './turn-head.tsx';

const itemsOf = (...events: Parameters<typeof entriesOf>) => buildTimeline(entriesOf(...events)).items;
const nothing = () => {};
const lineOf = async (item: Item | undefined, isLive = false) =>
  wordsOf(
    (await render(<Tool item={item as ToolItem} isOpen={false} onToggle={nothing} sessionId="s" isLive={isLive} />))
      .container,
  );

describe('a call in one line', () => {
  test('that failed shows its exit code and the line of its output with the reason', async () => {
    const output = 'Exit code 1\n> test\nAssertionError: 1 != 2\n';
    const [item] = itemsOf(call('a', 'Bash', { command: 'npm test' }), result('a', { exitCode: 1, output }));
    expect(await lineOf(item)).toBe('Bash npm test exit 1 1.0 s AssertionError: 1 != 2');
  });

  test('without a result is running only while the session is live', async () => {
    const [item] = itemsOf(call('a', 'Bash', { command: 'sleep' }));
    expect(await lineOf(item, true)).toContain('running');
    expect(await lineOf(item)).toContain('no result');
  });

  test('that started one sub-agent shows the work of the sub-agent', async () => {
    const inside: [string, object] = ['tool.call', { callId: 'x', name: 'Grep', source: { subagent: 'h' } }];
    const [item] = itemsOf(
      call('a', 'Task', { description: 'Look' }),
      ['subagent.started', { subagent: 'h', callId: 'a', agentType: 'Explore', description: 'Map the path' }],
      inside as never,
    );
    expect(await lineOf(item)).toBe('Explore Map the path · Look 1 call');
  });

  test('makes hidden characters in its names visible', async () => {
    const [item] = itemsOf(call('a', 'Ba\u202esh', { command: 'a\u200bb' }));
    expect(await lineOf(item)).toContain('a⟨U+200B⟩b');
    expect(await lineOf(item)).not.toMatch(/[\u202e\u200b]/);
  });

  test('with thousands of changed files lists some of them', async () => {
    const changes = Object.fromEntries(
      Array.from({ length: 3000 }, (_, index) => [`/f${index}`, { type: 'add', content: 'x\n' }]),
    );
    const [item] = itemsOf(call('a', 'apply_patch'), result('a', { detail: { changes } }));
    expect(await lineOf(item)).toContain('and 2992 more');
  });
});

test('a closed group of calls has a tick for each call, red for a failed one', async () => {
  const [group] = itemsOf(
    call('a'),
    result('a'),
    call('b', 'Bash'),
    result('b', { isError: true }),
    call('c'),
    call('d'),
  );
  const { container } = await render(<Group item={group as GroupItem} isOpen={false} onToggle={nothing} />);
  expect(
    [...container.querySelectorAll<HTMLElement>('[aria-hidden] > [data-kind]')].map(({ dataset }) => dataset.kind),
  ).toEqual(['read', 'failure', 'read', 'read']);
  expect(wordsOf(container)).toContain('4 tool calls 1 failed Read 3 · Bash · 1 shown below');
});

test('a turn shows its figures', async () => {
  const { turns } = buildTimeline(
    entriesOf(
      ['user.message', {}, 0],
      call('a', 'Bash'),
      ['usage', { model: 'm', inputTokens: 20_000, outputTokens: 0 }],
      ['tool.result', { callId: 'a', isError: true }, 90],
    ),
  );
  const counts = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0, outputTokens: 0 };
  const price = { input: 5, cached: 1, cacheWrite: 5, cacheWrite1h: 5, output: 20 };
  const usage = [{ day: '2026-11-21', model: 'm', terms: '', ...counts, webSearches: 0, price }];
  const figures = <TurnFigures turn={turns[0] as (typeof turns)[number]} usage={usage} />;
  expect(wordsOf((await render(figures)).container)).toBe('1 min 30 s 1 call 1 failed 20.0k tokens $0.10');
});

describe('a to-do list', () => {
  test.each([
    [{ todos: [{ content: 'a', status: 'completed' }] }, [{ text: 'a', status: 'completed' }]],
    [{ plan: [{ step: 'b', status: 'odd' }] }, [{ text: 'b', status: 'pending' }]],
    [{ todos: [null, 7, { content: 3 }] }, []],
    [{ todos: 'x' }, undefined],
    [undefined, undefined],
  ])('%j', (input, list) => {
    expect(readTodos(input)).toEqual(list);
  });
});

const PROMPT: Given = ['user.message', { text: 'Go on.' }];

/** A session with a prompt and these events, with all rows drawn. */
async function open(events: readonly Given[], query = ''): Promise<Service> {
  const service = createService([PROMPT, ...events]);
  await show(`/sessions/ses_1${query}`, service);
  await expect.poll(() => drawnRows().length).toBeGreaterThan(1);
  return service;
}

test.each([
  ['at first', ''],
  ['with records', '?show=records'],
])('rows have their estimated height, so that nothing moves when they are drawn: %s', async (_, query) => {
  const changes = { '/a.ts': { type: 'add', content: 'x' }, '/b.ts': { type: 'add', content: 'x' } };
  const events: Given[] = [
    ['assistant.reasoning', { text: 'A thought' }],
    ...[call('a'), result('a')],
    ['assistant.message', { text: 'An answer' }],
    ...[call('b', 'Bash'), result('b', { isError: true, output: 'no such file' })],
    ['notice', { text: 'A notice' }],
    ['compaction', { trigger: 'auto' }],
    ['compaction', { trigger: 'auto', summary: 'A summary' }],
    ['turn.finished', { durationMs: 5_000 }],
    ['context.message', { text: 'A context' }],
    ['of-another-program', {}, 4_000],
    ...[call('c', 'apply_patch'), result('c', { detail: { changes } })],
    ...[call('d'), result('d'), call('e'), result('e'), call('f'), result('f'), call('g'), result('g')],
  ];
  await open(events, query);
  const items = itemsOf(PROMPT, ...events).slice(1);
  const drawn = () => items.filter(({ sequence }) => rowOf(sequence));
  await expect.poll(() => drawn().length).toBeGreaterThan(2);
  const heightOf = (item: Item) =>
    estimateRow({ key: 'k', item, depth: 0, version: 0, isOpen: false, start: 0 }, area().clientWidth);
  const heights = () => drawn().map((item) => [item.kind, rowOf(item.sequence)?.offsetHeight]);
  await expect.poll(heights).toEqual(drawn().map((item) => [item.kind, heightOf(item)]));
});

describe('the output of a call', () => {
  const output = Array.from(
    { length: 300 },
    (_, index) => `line ${index + 1}${index > 0 ? '' : ' and on'.repeat(90)}`,
  ).join('\n');
  const shown = () => rowOf(2)?.querySelector<HTMLElement>('[data-wrapped]');
  const lines = () => shown()?.textContent.match(/line \d+/g)?.length;

  test('is folded after some lines, and a button unfolds and folds it', async () => {
    await open([call('a', 'Bash', { command: 'seq' }), result('a', { output })]);
    await userEvent.keyboard('jjo');
    await expect.poll(lines).toBe(12);
    await page.getByRole('button', { name: '288 more lines' }).click();
    await expect.poll(lines).toBe(300);
    expect(sequenceOf(document.activeElement?.closest('.timeline-row') ?? undefined)).toBe(2);
    await page.getByRole('button', { name: 'Show less' }).click();
    await expect.poll(lines).toBe(12);
  });

  test('wraps its lines or scrolls them', async () => {
    await open([call('a', 'Bash', { command: 'seq' }), result('a', { output })]);
    await userEvent.keyboard('jjo');
    await expect.poll(lines).toBe(12);
    const block = () => shown()?.querySelector('.code-block') as HTMLElement;
    expect(block().scrollWidth).toBe(block().clientWidth);
    await page.getByRole('button', { name: 'Wrap' }).click();
    await expect.poll(() => block().scrollWidth).toBeGreaterThan(block().clientWidth);
    expect(drawnRows()[0]?.offsetWidth).toBeLessThanOrEqual(area().clientWidth);
  });

  test('that fails to load shows an error in place', async () => {
    const service = await open([call('a', 'Bash'), result('a'), ['assistant.message', { text: 'All is well.' }]]);
    delete service.answers.getEventWindow;
    await userEvent.keyboard('jjo');
    await expect.poll(() => wordsOf(rowOf(2))).toContain('Not found.');
    expect(wordsOf(rowOf(4))).toContain('All is well.');
  });
});
