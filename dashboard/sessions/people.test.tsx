import { beforeEach, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { memberRow, sessionRow } from '../test/rows.ts';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';

const NOW = '2026-11-22T12:00:00.000Z';
const MEMBERS = [
  memberRow('usr_1', 'ada@example.com'),
  memberRow('usr_2', 'alex@example.com'),
  memberRow('usr_3', 'alex@other.example'),
];

const ownedBy = (sessionId: string, userId?: string, account = 'ubuntu') => {
  const row = sessionRow(sessionId);
  return { ...row, summary: { ...row.summary, account, ...(userId && { userId }) } };
};
const ROWS = [ownedBy('ses_1', 'usr_1'), ownedBy('ses_2', 'usr_2'), ownedBy('ses_3'), ownedBy('ses_4', 'usr_gone')];

let service: Service;
beforeEach(() => {
  service = createService([], ROWS);
  service.answers.listMembers = () => ({ users: MEMBERS });
  service.answers.listEnvironments = () => ({
    environments: [
      {
        ...{ environmentId: 'env_1', organizationId: 'org_1', hostname: 'ci-7', platform: 'linux', status: 'active' },
        ...{ serviceCliVersion: '1.0.0', lastSeenAt: NOW, createdAt: NOW, updatedAt: NOW },
      },
    ],
  });
});

const whereOf = (sessionId: string) =>
  document.querySelector(`[data-session="${sessionId}"] [data-label="Where"]`)?.textContent ?? '';

test('a row of the list names the member to whom the session belongs, not the account on the machine', async () => {
  await show('/sessions', service);
  await expect.poll(() => whereOf('ses_1')).toContain('Codex · ada · ci-7');
  expect(whereOf('ses_1')).not.toContain('ubuntu');
  expect(whereOf('ses_2')).toContain('alex@example.com');
  expect(whereOf('ses_3')).toContain('nobody’s: account ubuntu · ci-7');
  expect(whereOf('ses_4')).toContain('a former member');
});

test('the header of a session names the member, and the details the account on the machine', async () => {
  await show('/sessions/ses_1?inspector=1', service);
  await expect.element(page.getByTitle('person: ada')).toBeVisible();
  await page.getByRole('button', { name: 'Inspector' }).click();
  await expect.element(page.getByText('account on the machine')).toBeVisible();
  await expect.element(page.getByText('ubuntu')).toBeVisible();
});

test('the header of a session that belongs to nobody says so', async () => {
  await show('/sessions/ses_3', service);
  await expect.element(page.getByTitle('person: nobody’s: account ubuntu on ci-7')).toBeVisible();
});

test('the header of a session names the other machine that sent some of its events', async () => {
  service.answers.listSessionSenders = () => ({
    senders: [
      {
        ...{ secretId: 'sec_2', environmentId: 'env_1', events: 3, firstSequence: 2, lastSequence: 4 },
        lastAt: NOW,
      },
    ],
  });
  await show('/sessions/ses_1', service);
  const told = page.getByText('Sent by another machine: ci-7');
  await told.click();
  await expect.element(page.getByText(/ci-7 sent 3 events between 2 and 4/)).toBeVisible();
});

test('suggestions for people are the members, found by any part of their address', async () => {
  await show('/sessions', service);
  const bar = page.getByRole('combobox', { name: 'Find sessions' });
  const options = () => [...document.querySelectorAll('[role="option"]')].map(({ textContent }) => textContent);
  await bar.fill('person:other.ex');
  await expect.poll(options).toEqual(['alex@other.examplealex@other.example']);
  await bar.fill('person:ad');
  await expect.poll(options).toEqual(['adaada@example.com']);
  await page.getByRole('option').click();
  await expect.element(page.getByRole('button', { name: 'Remove the filter person ada' })).toBeVisible();
});

test('the list says why a name finds nothing', async () => {
  const problems = ['person:ubuntu finds nothing: no member is called ubuntu.'];
  service.answers.searchSessions = () => ({ sessions: [], nextCursor: null, problems });
  await show('/sessions?q=person:ubuntu', service);
  await expect.element(page.getByText(problems[0] as string)).toBeVisible();
});

test('repositories that share their short name are named in full', async () => {
  const named = (sessionId: string, repository: string) => {
    const row = sessionRow(sessionId);
    return { ...row, summary: { ...row.summary, repository } };
  };
  const all = ['github.com/acme/shop', 'gitlab.com/acme/shop', 'github.com/acme/docs'];
  const shown = createService(
    [],
    all.map((repository, at) => named(`ses_${at}`, repository)),
  );
  shown.answers.listRepositories = () => ({ repositories: all.map((repository) => ({ repository, sessions: 1 })) });
  await show('/sessions', shown);
  await expect.poll(() => whereOf('ses_0')).toContain('github.com/acme/shop');
  expect(whereOf('ses_1')).toContain('gitlab.com/acme/shop');
  expect(whereOf('ses_2')).toContain(' acme/docs');
});
