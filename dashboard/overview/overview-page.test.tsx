import { afterEach, beforeEach, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { MachineHealth } from '../../contract/environment.ts';
import type { Figures, Usage } from '../../contract/review.ts';
import { dayOf } from '../shared/series-slots.ts';
import { memberRow, sessionRow } from '../test/rows.ts';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { loadIn, moveBack } from '../test/zone.ts';

const DAY_MS = 86_400_000;
const NOW = new Date().toISOString();
const figures = (cost: number, sessions: number): Figures => ({
  ...{ sessions, prompts: 0, toolCalls: 100, failures: 5, cost },
  ...{ inputTokens: 0, cachedTokens: 0, outputTokens: 0 },
});

const usage = (from: string, to: string, cost: number): Usage => ({
  ...{ from, to, total: figures(cost, 79), days: [{ day: to, ...figures(cost, 79) }], groups: [], tools: [] },
  hours: Array.from({ length: 168 }, () => 0),
  attention: (['failures', 'longest'] as const).map((reason) => ({
    reason,
    figure: 7,
    ...sessionRow('ses_1', NOW, 7),
  })),
  ...{ running: [], machines: [], pricesOf: '2026-11-22', unpricedTokens: 0 },
});

const machine = (environmentId: string, more: Partial<MachineHealth>): MachineHealth => ({
  ...{ environmentId, secretIds: [], isOutdated: false, states: [], reportedAt: NOW, waiting: 0 },
  ...more,
});

let service: Service;
beforeEach(() => {
  service = createService();
  const names = ['ada-mbp', 'ben-linux', 'dora-win', 'eve-air'];
  service.answers.listEnvironments = () => ({
    environments: names.map((hostname) => ({
      ...{ environmentId: `env_${hostname}`, organizationId: 'org_1', hostname, platform: 'linux' as const },
      ...{ serviceCliVersion: '0.1.0', status: 'active' as const, lastSeenAt: NOW, createdAt: NOW, updatedAt: NOW },
    })),
  });
  service.answers.listMachineHealth = () => ({
    machines: [
      machine('env_ada-mbp', { silentSince: new Date(Date.now() - 2 * DAY_MS).toISOString() }),
      machine('env_ben-linux', { waiting: 12, reportedAt: new Date(Date.now() - 600_000).toISOString() }),
      machine('env_dora-win', { waiting: 12, isOutdated: true }),
      machine('env_eve-air', { states: [{ state: 'full' }] }),
    ],
  });
  service.answers.getUsage = ({ from = '', to = '' }) => usage(from, to, to === dayOf(Date.now()) ? 138 : 100);
});

afterEach(moveBack);

test('days and hours are of UTC in every time zone, say so, and lead to the sessions that were summed', async () => {
  await loadIn('Pacific/Auckland', '/');
  const hours = Array.from({ length: 168 }, (_, hour) => (hour === 62 ? 5 : 0));
  service.answers.getUsage = ({ from = '', to = '' }) => ({ ...usage(from, to, 100), hours });
  await show('/?from=2026-11-16&to=2026-11-22', service);
  await expect.element(page.getByRole('heading', { name: /^When agents work .*UTC$/ })).toBeVisible();
  const cell = page.getByTitle('Wednesday 14:00–15:00 UTC: 5');
  const days = 'after:2026-11-16T00:00Z before:2026-11-23T00:00Z';
  expect(queryOf(cell.element().querySelector('a'))).toBe(`hour:wed-14 ${days}`);
  await page.getByRole('button', { name: 'Table' }).click();
  await expect.element(page.getByRole('columnheader', { name: 'Day, UTC' })).toBeVisible();
  const link = page.getByRole('link', { name: '22 Nov 2026', exact: true });
  expect(queryOf(link.element())).toBe('after:2026-11-22T00:00Z before:2026-11-23T00:00Z');
});

const queryOf = (link: Element | null) => new URL((link as HTMLAnchorElement).href).searchParams.get('q');

test('begins with a sentence: cost of the week, its change, failures and machines in trouble', async () => {
  await show('/?days=7', service);
  const sentence = () => document.querySelector('[data-part="sentence"]')?.textContent ?? '';
  await expect.poll(sentence).toContain('+38 % on the 7 days before');
  const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long' }).format(Date.now() - 2 * DAY_MS);
  await expect.poll(sentence).toContain(`ada-mbp silent since ${weekday}`);
  for (const part of ['7 days $138', '79 sessions', '5 % of calls failed', 'ben-linux 12 events waiting']) {
    expect(sentence()).toContain(part);
  }
  // Events that wait for moments and an outdated version are no trouble.
  expect(sentence()).not.toContain('dora-win');
  expect(sentence()).toContain('eve-air spool full');
});

test('says in one line how many transcripts are captured and not read, and leads to the machines', async () => {
  service.answers.listMachineHealth = () => ({
    machines: [
      machine('env_ada-mbp', {
        coverage: { captured: 40, keptBack: 2, waiting: 0 },
        gaps: [{ kind: 'agent', agent: 'kimi', count: 3 }],
        comparison: { comparedAt: NOW, sessions: 4, records: 70, problems: [] },
      }),
    ],
  });
  await show('/', service);
  const line = page.getByRole('link', {
    name: /45 transcripts seen: 40 captured, 2 kept back, 3 not read/,
  });
  await expect.element(line).toBeVisible();
  expect(line.element().textContent).toMatch(/Is anything missing\? Nothing on 1 machine compared, .*\.$/);
  await line.click();
  await expect.element(page.getByRole('heading', { name: 'Machines' })).toBeVisible();
});

test('a paused machine is neither healthy nor in trouble, and says since when until when', async () => {
  const answer = service.answers.listMachineHealth;
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  service.answers.listMachineHealth = (given) => {
    const paused = { state: 'pause', since: at(-DAY_MS) };
    const other = answer?.(given).machines.slice(2) ?? [];
    return {
      machines: [
        machine('env_ada-mbp', { states: [{ ...paused, until: at(DAY_MS) }] }),
        machine('env_ben-linux', { states: [{ ...paused, until: at(-1000) }] }),
        ...other,
      ],
    };
  };
  await show('/', service);
  const time = (ms: number) =>
    new Intl.DateTimeFormat('en-GB', { weekday: 'long', hour: '2-digit', minute: '2-digit' }).format(Date.now() + ms);
  const cell = (text: string | RegExp) => page.getByRole('row', { name: /ada-mbp/ }).getByText(text);
  await expect.element(cell(`paused since ${time(-DAY_MS)} until ${time(DAY_MS)}`)).toBeVisible();
  expect(cell(/paused/).element().className).not.toContain('text-warn');
  expect(
    cell(/paused/)
      .element()
      .getAttribute('title'),
  ).toContain('nothing that agents write there is captured');
  await expect
    .poll(() => document.querySelector('[data-part="sentence"]')?.textContent)
    .toContain('ada-mbp paused since');
  // A pause that has ended is over, even if the machine has not said so yet.
  await expect.element(page.getByRole('row', { name: /ben-linux/ }).getByText('healthy')).toBeVisible();
  const machines = [...document.querySelectorAll('section[aria-labelledby=machines] tbody tr')];
  expect(machines.map((row) => row.querySelector('a')?.textContent).slice(0, 2)).toEqual(['eve-air', 'ada-mbp']);
});

test('says that sessions are still being counted, and shows them all afterwards', async () => {
  let asked = 0;
  service.answers.getUsage = ({ from = '', to = '' }) => ({
    ...usage(from, to, 100),
    ...(to === dayOf(Date.now()) && asked++ === 0 ? { catchingUp: true } : {}),
  });
  await show('/?days=7', service);
  const sentence = () => document.querySelector('[data-part="sentence"]')?.textContent ?? '';
  await expect.poll(sentence).toContain('recent sessions are still being counted');
  await expect.poll(sentence, { timeout: 10_000 }).not.toContain('still being counted');
});

test('a machine is amber only if something is wrong, and says that its version is outdated', async () => {
  await show('/', service);
  const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) });
  const textOf = (name: string) => row(name).query()?.textContent ?? '';
  await expect.poll(() => textOf('dora-win')).toMatch(/healthy.*0\.1\.0 · update available/);
  const update = row('dora-win').getByRole('link', { name: 'update available' }).element();
  expect(update.getAttribute('title')).toMatch(/: curl .*\/install' \| sh$|: curl .*\/install \| sh$/);
  expect(textOf('eve-air')).toContain('spool full');
  const amber = [...document.querySelectorAll('td .text-warn')].map(({ textContent }) => textContent);
  expect(amber).toHaveLength(3);
});

test('the plot of cost shows the period before, and a session that needs a look is listed once', async () => {
  await show('/?days=7', service);
  await expect.poll(() => document.querySelector('.plot-ghost')?.getAttribute('d')).toMatch(/^M/);
  const look = page.getByRole('region', { name: 'Needs a look' });
  await expect.poll(() => look.getByRole('listitem').elements().length).toBe(1);
  expect(look.element().textContent).toContain('7 failures7 ms');
});

const byPerson = (...people: string[]) => {
  const group = (dimension: 'agent' | 'person', value: string) => ({ dimension, value, ...figures(1, 1), days: [] });
  service.answers.getUsage = ({ from = '', to = '' }) => ({
    ...usage(from, to, 100),
    groups: [group('agent', 'codex'), ...people.map((value) => group('person', value))],
  });
};

test('figures by person name the members, and the sessions of nobody apart', async () => {
  byPerson('usr_1', 'usr_2', 'nobody');
  service.answers.listMembers = () => ({ users: [memberRow('usr_1', 'ada@example.com')] });
  await show('/?by=person', service);
  await expect.element(page.getByRole('heading', { name: 'Figures by person' })).toBeVisible();
  expect(page.getByText(/Too few people/).query()).toBeNull();
  await page.getByRole('button', { name: 'Table' }).click();
  const hrefOf = (name: string) => page.getByRole('link', { name, exact: true }).element().getAttribute('href');
  await expect.element(page.getByRole('link', { name: 'ada', exact: true })).toBeVisible();
  expect(hrefOf('ada')).toContain('person%3Ausr_1');
  expect(hrefOf('a former member')).toContain('person%3Ausr_2');
  expect(hrefOf('No member')).toContain('person%3Anobody');
});

test('a running session names the member to whom it belongs', async () => {
  const { session, summary } = sessionRow('ses_1', new Date().toISOString());
  service.answers.getUsage = ({ from = '', to = '' }) => ({
    ...usage(from, to, 1),
    running: [{ session, summary: { ...summary, userId: 'usr_1', account: 'ubuntu' } }],
  });
  service.answers.listMembers = () => ({ users: [memberRow('usr_1', 'ada@example.com')] });
  await show('/', service);
  const running = () => document.querySelector('[aria-labelledby="running"]')?.textContent;
  await expect.poll(running).toContain('ada');
  expect(running()).not.toContain('ubuntu');
});

test('figures by person with only the group of others are explained', async () => {
  byPerson('');
  await show('/?by=person', service);
  await expect.element(page.getByText(/Too few people were active/)).toBeVisible();
});

test('an address by person shows figures by agent if the policy hides names', async () => {
  byPerson();
  await show('/?by=person', service);
  await expect.element(page.getByRole('heading', { name: 'Figures by agent' })).toBeVisible();
  expect(page.getByRole('button', { name: 'Person' }).query()).toBeNull();
});
