import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { Environment } from '../../contract/environment.ts';
import type { Given } from '../session/model/test/events.ts';
import { memberRow, sessionRow } from './rows.ts';
import { createService, type Service } from './service.ts';
import { show } from './show.tsx';

/*
 * More data than a person looks at: the document stays small, nothing is wider than the window, and data that is not drawn
 * can be reached.
 */

const NOW = '2026-11-22T12:00:00.000Z';
const MAX_NODES = 2_000;
const MAX_FILTERS = 24;
/** The length of a title, a branch and a folder. */
const LONG = 'A title that nobody would type '.repeat(330);
/** A text with bidirectional and hidden characters and without a place to wrap. */
const TWISTED = `\u202eevil\u2066 التاريخ עברית \u200bzero\u200bwidth ${'x'.repeat(300)}`;

const NO_FIGURES = { prompts: 0, toolCalls: 0, failures: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 };

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const nodes = () => document.querySelectorAll('*').length;
const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
const textsOf = (selector: string) => [...document.querySelectorAll(selector)].map(({ textContent }) => textContent);

const machine = (at: number): Environment => ({
  environmentId: `env_${at}`,
  organizationId: 'org_1',
  hostname: `host-${at}`,
  platform: 'linux',
  serviceCliVersion: '0.1.0',
  status: 'active',
  lastSeenAt: NOW,
  createdAt: NOW,
  updatedAt: NOW,
});
const member = (at: number) => memberRow(`usr_${at}`, `person-${at}@example.com`);

let service: Service;
beforeEach(() => {
  service = createService([], [sessionRow('ses_1')]);
});
afterEach(async () => {
  await page.viewport(1280, 800);
});

describe('2,000 machines', () => {
  beforeEach(() => {
    service.answers.listEnvironments = () => ({ environments: numbers(2_000).map(machine) });
    service.answers.listMachineHealth = () => ({
      machines: numbers(2_000).map((at) => ({
        environmentId: `env_${at}`,
        secretIds: [],
        isOutdated: false,
        states: at === 1_234 ? [{ state: 'full' }] : [],
      })),
    });
  });

  test('are drawn in part, can be found by name and shown on request', async () => {
    await show('/environments', service);
    const rows = () => textsOf('tbody tr').length;
    await expect.poll(rows).toBe(60);
    expect(nodes()).toBeLessThan(MAX_NODES);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(rows).toBe(120);
    await page.getByRole('searchbox', { name: 'Find among machines' }).fill('HOST-1999');
    await expect.poll(() => textsOf('tbody tr')).toEqual([expect.stringContaining('host-1999')]);
    await page.getByRole('searchbox', { name: 'Find among machines' }).fill('nowhere');
    await expect.element(page.getByText('No matches.')).toBeVisible();
  });

  test('leave the overview small: the machine in trouble is first, and a link shows all', async () => {
    service.answers.getUsage = ({ from = '', to = '' }) => ({
      ...{
        from,
        to,
        total: { sessions: 2_000, ...NO_FIGURES },
        days: [],
        tools: [],
        hours: [],
        attention: [],
        running: [],
      },
      groups: numbers(200).map((at) => ({
        ...{ dimension: 'environment' as const, value: `env_${at}`, sessions: 10, ...NO_FIGURES, days: [] },
      })),
      ...{ machines: [], pricesOf: '2026-11-22', unpricedTokens: 0 },
    });
    await show('/', service);
    const table = () => textsOf('[aria-label="Table of machines"] tbody tr');
    await expect.poll(() => table()[0]).toMatch(/^host-1234.*spool full/);
    expect(table()).toHaveLength(20);
    await expect.element(page.getByRole('link', { name: 'All 2,000 machines' })).toBeVisible();
    expect(nodes()).toBeLessThan(MAX_NODES);
  });
});

test('300 members are drawn in part and can be found by e-mail', async () => {
  service.answers.listMembers = () => ({ users: numbers(300).map(member) });
  service.answers.listInvitations = () => ({ invitations: [] });
  await show('/members', service);
  await expect.poll(() => textsOf('tbody tr').length).toBe(60);
  expect(nodes()).toBeLessThan(MAX_NODES);
  await page.getByRole('searchbox', { name: 'Find among members' }).fill('person-299@');
  await expect.poll(() => textsOf('tbody tr')).toHaveLength(1);
});

test('the menu shows the first of 200 values of a filter, and typing finds the others', async () => {
  service.answers.getUsage = ({ from = '', to = '' }) => ({
    ...{
      from,
      to,
      total: { sessions: 200, ...NO_FIGURES },
      days: [],
      tools: [],
      hours: [],
      attention: [],
      running: [],
    },
    groups: numbers(200).map((at) => ({
      ...{ dimension: 'person' as const, value: `usr_${at}`, sessions: 1, ...NO_FIGURES, days: [] },
    })),
    ...{ machines: [], pricesOf: '2026-11-22', unpricedTokens: 0 },
  });
  service.answers.listMembers = () => ({ users: numbers(200).map(member) });
  await show('/sessions', service);
  await page.getByRole('button', { name: 'Filter' }).click();
  const items = () => textsOf('[role="menuitemcheckbox"]').filter((text) => text.startsWith('person-'));
  await expect.poll(items).toHaveLength(5);
  await userEvent.keyboard('{Escape}');
  await page.getByRole('combobox', { name: 'Find sessions' }).fill('person:person-199');
  await expect.poll(() => textsOf('[role="option"]')).toEqual(['person-199person-199@example.com']);
});

test.each([360, 1280])('a query with the most filters leaves room for the list, %i pixels wide', async (width) => {
  await page.viewport(width, 800);
  const q = numbers(MAX_FILTERS)
    .map((at) => `file:src/${'deep/'.repeat(4)}a${at}.ts`)
    .join(' ');
  await show(`/sessions?q=${encodeURIComponent(q)}`, service);
  await expect.poll(() => document.querySelectorAll('[aria-label^="Remove the filter"]').length).toBe(MAX_FILTERS);
  expect(document.querySelector('search')?.getBoundingClientRect().height).toBeLessThan(800 / 3);
  expect(overflow()).toBe(0);
});

describe.each([360, 1280])('with titles of 10,000 and of hidden characters, %i pixels wide', (width) => {
  beforeEach(() => page.viewport(width, 800));

  test('the list keeps its rows in one line and makes hidden characters visible', async () => {
    const rows = [LONG, TWISTED].map((title, at) => {
      const { session, ...row } = sessionRow(`ses_${at}`);
      return { ...row, session: { ...session, title, repoRoot: `/home/${LONG}` } };
    });
    await show('/sessions', createService([], rows));
    await expect.poll(() => document.querySelectorAll('[data-session]').length).toBe(2);
    for (const row of document.querySelectorAll('[data-session]')) expect(row.clientHeight).toBeLessThan(80);
    expect(document.body.textContent).toContain('⟨U+202E⟩');
    expect(document.body.textContent).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
    expect(overflow()).toBe(0);
  });

  test.each([
    ['long', LONG],
    ['twisted', TWISTED],
  ])('the page of a session with a %s title keeps its header low', async (_, title) => {
    const { session, ...row } = sessionRow('ses_1');
    const events: Given[] = [
      ['session.meta', { title, cwd: title, branch: title, model: title }],
      ['user.message', { text: title }],
    ];
    await show('/sessions/ses_1', createService(events, [{ ...row, session: { ...session, title } }]));
    await expect.poll(() => document.querySelector('.timeline-row')).not.toBeNull();
    expect(document.querySelector('main header')?.clientHeight).toBeLessThan(200);
    expect(document.body.textContent).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
    expect(overflow()).toBe(0);
  });
});

test('500 sub-agents are drawn in part, in the timeline and on their page', async () => {
  const events: Given[] = [
    ['user.message', { text: 'Go on.' }],
    ...numbers(500).flatMap((at): Given[] => [
      ['tool.call', { callId: `c${at}`, name: 'Task', input: { description: `task ${at}` } }],
      ['subagent.started', { subagent: `a${at}`, callId: `c${at}`, description: `task ${at}` }],
      ['assistant.message', { text: `answer ${at}`, subagent: `a${at}` }],
      ['tool.result', { callId: `c${at}`, output: 'done' }],
    ]),
  ];
  const { close } = await show('/sessions/ses_1', createService(events));
  await expect.poll(() => document.querySelector('[data-complete="true"] .timeline-row')).not.toBeNull();
  expect(nodes()).toBeLessThan(MAX_NODES);
  await close();
  document.body.replaceChildren();
  await show('/sessions/ses_1?view=agents', createService(events));
  await expect.element(page.getByRole('heading', { name: '500 sub-agents' })).toBeVisible();
  expect(document.querySelectorAll('[aria-label="Sub-agents"] li')).toHaveLength(60);
  expect(nodes()).toBeLessThan(MAX_NODES);
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => document.querySelectorAll('[aria-label="Sub-agents"] li').length).toBe(120);
});

test('an output of 5 MB is drawn in part, as a row and in the inspector', async () => {
  const output = 'a line of it\n'.repeat(400_000);
  const events: Given[] = [
    ['tool.call', { callId: 'c', name: 'Bash', input: { command: 'ls' } }],
    ['tool.result', { callId: 'c', output }],
  ];
  await show('/sessions/ses_1', createService(events));
  await expect.poll(() => document.querySelector('.timeline-row')).not.toBeNull();
  await userEvent.keyboard('j{Enter}');
  const inspector = page.getByRole('complementary', { name: 'Inspector' });
  await expect.poll(() => inspector.query()?.textContent).toContain('a line of it');
  expect(nodes()).toBeLessThan(MAX_NODES);
  expect(document.body.textContent.length).toBeLessThan(output.length / 10);
});

test('a session without times shows no times and no day of its arrival', async () => {
  const events = numbers(3).map((at): Given => ['user.message', { text: `Prompt ${at}`, occurredAt: undefined }]);
  await show('/sessions/ses_1', createService(events));
  await expect.element(page.getByText('times unknown')).toBeVisible();
  await expect.poll(() => document.querySelectorAll('.timeline-row').length).toBe(3);
  // The times would be those of storing the events.
  const times = [...document.querySelectorAll('.timeline-day, .timeline-clock')];
  expect(times.filter((time) => time.checkVisibility())).toEqual([]);
});
