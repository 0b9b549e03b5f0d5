import { beforeEach, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { current, drawnRows, isInSight, rowOf, sequenceOf, wordsOf } from '../test/timeline.ts';
import { call, type Given, result } from './model/test/events.ts';

const filler = Array.from({ length: 100 }, (_, at): Given => ['assistant.message', { text: `Answer ${at}` }]);
const lines = (from: number) => Array.from({ length: 500 }, (_, at) => `line ${from + at}`).join('\n');
const EVENTS: Given[] = [
  ['user.message', { text: 'Go on' }],
  ...filler,
  call('a', 'Bash', { command: 'seq' }),
  result('a', { output: `${lines(1)}\nthe needle\n${lines(502)}` }),
  ['user.message', { text: 'Thanks' }],
];
const CALL = 102;

const open = (query: string) => show(`/sessions/ses_1${query}`, createService(EVENTS));
const search = () => wordsOf(document.querySelector('search') ?? undefined);
const output = () => wordsOf(rowOf(CALL)?.querySelector('[data-wrapped]') ?? undefined);
const marked = () => [...(CSS.highlights.get('found') ?? [])].map(String);

beforeEach(() => localStorage.clear());

test('a link with only words opens the first event with them, once', async () => {
  await open('?find=needle');
  await expect.poll(search).toContain('1 of 1');
  await expect.poll(() => sequenceOf(current())).toBe(CALL);
  await expect.poll(() => isInSight(current())).toBe(true);
  await userEvent.keyboard('gg');
  await expect.poll(() => sequenceOf(current())).toBe(1);
  await expect.poll(search).not.toContain('1 of 1');
  expect(sequenceOf(current())).toBe(1);
});

test('a reader who moves on before the words are found stays there, and the row stays closed', async () => {
  const service = createService(EVENTS);
  const app = service.app();
  const found = Promise.withResolvers<void>();
  const findInSession: typeof app.api.findInSession = async (given) => {
    await found.promise;
    return app.api.findInSession(given);
  };
  service.app = () => ({ ...app, api: { ...app.api, findInSession } });
  const { address } = await show('/sessions/ses_1?find=seq', service);
  await expect.poll(() => drawnRows().length).toBeGreaterThan(1);
  await userEvent.keyboard('j');
  await expect.poll(address).toContain('e=1');
  found.resolve();
  await expect.poll(search).toMatch(/^1$/);
  await userEvent.keyboard('{Shift>}G{/Shift}k');
  await expect.poll(search).toContain('1 of 1');
  await userEvent.keyboard('j');
  await expect.poll(address).toContain('e=104');
  expect(rowOf(CALL)?.querySelector('.fold')?.ariaExpanded).toBe('false');
});

test.each(['?find=needle&e=103', '?find=needle'])(
  '%s opens its event at the words, however deep in an output',
  async (query) => {
    await open(query);
    await expect.poll(output).toMatch(/^line 498 line 499 line 500 the needle line 502 .* line 509 989 more lines/);
    await expect.poll(marked).toEqual(['needle']);
    await userEvent.keyboard('{Escape}');
    await expect.poll(() => CSS.highlights.has('found')).toBe(false);
    expect(output()).toContain('the needle');
  },
);

test('a match of the bar is open as well, at its beginning if the words are there', async () => {
  await open('');
  await expect.poll(() => drawnRows().length).toBeGreaterThan(1);
  await userEvent.keyboard('/');
  await expect.poll(() => document.activeElement?.tagName).toBe('INPUT');
  await userEvent.keyboard('line');
  await expect.poll(search).toContain('1');
  await userEvent.keyboard('{Enter}');
  await expect.poll(output).toMatch(/^line 1 line 2 .* line 12 989 more lines/);
});
