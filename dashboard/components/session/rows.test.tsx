import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { buildTimeline } from '../../timeline/build.ts';
import type { GroupItem, Item, ToolItem } from '../../timeline/items.ts';
import { call, entriesOf, result } from '../../timeline/test/events.ts';
import { estimateRow } from './estimate.ts';
import { Group } from './fold-rows.tsx';
import { readTodos } from './todos.tsx';
import { Tool } from './tool-row.tsx';
import { TurnFigures } from './turn-head.tsx';

const itemsOf = (...events: Parameters<typeof entriesOf>) => buildTimeline(entriesOf(...events)).items;
const wordsOf = (markup: string) =>
  markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
const nothing = () => {};
const toolRow = (item: Item | undefined, isLive = false) =>
  renderToStaticMarkup(
    <Tool item={item as ToolItem} isOpen={false} onToggle={nothing} sessionId="s" isLive={isLive} />,
  );

describe('a call in one line', () => {
  test('that failed tells by what, and the line of its output that says why', () => {
    const output = 'Exit code 1\n> test\nAssertionError: 1 != 2\n';
    const [item] = itemsOf(call('a', 'Bash', { command: 'npm test' }), result('a', { exitCode: 1, output }));
    expect(wordsOf(toolRow(item))).toBe('Bash npm test exit 1 1.0 s AssertionError: 1 != 2');
  });

  test('without an answer is running only while the session is', () => {
    const [item] = itemsOf(call('a', 'Bash', { command: 'sleep' }));
    expect(wordsOf(toolRow(item, true))).toContain('running');
    expect(wordsOf(toolRow(item))).toContain('no result');
  });

  test('that started one sub-agent says what the sub-agent did', () => {
    const inside: [string, object] = ['tool.call', { callId: 'x', name: 'Grep', source: { subagent: 'h' } }];
    const [item] = itemsOf(
      call('a', 'Task', { description: 'Look' }),
      ['subagent.started', { subagent: 'h', callId: 'a', agentType: 'Explore', description: 'Map the path' }],
      inside as never,
    );
    expect(wordsOf(toolRow(item))).toBe('Explore Map the path · Look 1 call');
  });

  test('shows what hides in its names', () => {
    const [item] = itemsOf(call('a', 'Ba\u202esh', { command: 'a\u200bb' }));
    expect(toolRow(item)).toContain('a⟨U+200B⟩b');
    expect(toolRow(item)).not.toMatch(/[\u202e\u200b]/);
  });

  test('of thousands of changed files lists some', () => {
    const changes = Object.fromEntries(
      Array.from({ length: 3000 }, (_, index) => [`/f${index}`, { type: 'add', content: 'x\n' }]),
    );
    const [item] = itemsOf(call('a', 'apply_patch'), result('a', { detail: { changes } }));
    expect(wordsOf(toolRow(item))).toContain('and 2992 more');
  });
});

test('a closed run of calls has a tick for each, red where it failed', () => {
  const [group] = itemsOf(
    call('a'),
    result('a'),
    call('b', 'Bash'),
    result('b', { isError: true }),
    call('c'),
    call('d'),
  );
  const markup = renderToStaticMarkup(<Group item={group as GroupItem} isOpen={false} onToggle={nothing} />);
  expect(markup.match(/class="tick" data-kind="\w+"/g)?.map((tick) => tick.slice(24, -1))).toEqual([
    'read',
    'failure',
    'read',
    'read',
  ]);
  expect(wordsOf(markup)).toContain('4 tool calls 1 failed Read 3 · Bash · 1 of them below');
});

test('a turn tells its figures', () => {
  const { turns } = buildTimeline(
    entriesOf(
      ['user.message', {}, 0],
      call('a', 'Bash'),
      ['usage', { model: 'm', inputTokens: 20_000, outputTokens: 0 }],
      ['tool.result', { callId: 'a', isError: true }, 90],
    ),
  );
  const counts = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
  const price = { input: 5, cached: 1, cacheWrite: 5, output: 20 };
  const usage = [{ day: '2026-11-21', model: 'm', ...counts, price }];
  const figures = <TurnFigures turn={turns[0] as (typeof turns)[number]} usage={usage} />;
  expect(wordsOf(renderToStaticMarkup(figures))).toBe('1 min 30 s 1 call 1 failed 20.0k tokens $0.10');
});

describe('a list of things to do', () => {
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

test('rows of one line are as high as they are expected to be', () => {
  const height = (item: Item | undefined) =>
    item && estimateRow({ key: 'k', item, depth: 0, version: 0, isOpen: false, start: 0 }, 900);
  const [tool] = itemsOf(call('a'), result('a'));
  const [failed] = itemsOf(call('a'), result('a', { isError: true }));
  const [short, long] = itemsOf(
    ['assistant.message', { text: 'x' }],
    ['assistant.message', { text: 'word '.repeat(400) }],
  );
  expect([tool, failed, short].map(height)).toEqual([30, 52, 32]);
  expect(height(long)).toBeGreaterThan(400);
});
