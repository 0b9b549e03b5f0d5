import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { ServiceError } from '../../contract/client.ts';
import { DEFAULT_POLICY } from '../../contract/policy.ts';
import type { SessionFacts } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import type { Share, SharedSession } from '../../contract/share.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { SharePage } from './share-page.tsx';

const AT = '2026-11-22T12:00:00.000Z';
const shared: SharedSession = {
  ...{ level: 'outline', expiresAt: AT, agentId: 'codex', status: 'completed', startedAt: AT, eventCount: 2 },
  ...{ title: 'Sort the harbour list', repository: 'github.com/acme/harbour' },
};
const share: Share = {
  ...{ shareId: 'shr_1', sessionId: 'ses_1', by: 'usr_1', audience: 'link', level: 'outline', createdAt: AT },
  ...{ expiresAt: '2999-01-01T00:00:00.000Z', views: 3, from: 20 },
};

test('a shared session says what is left out and shows its content as text', async () => {
  const html = '<article class="prompt">&lt;img src=x&gt; sort it</article>';
  await render(<SharePage token="t" read={async () => ({ shared, html })} />);
  await expect.element(page.getByRole('heading', { name: 'Sort the harbour list' })).toBeVisible();
  await expect.element(page.getByText(/Outputs and very large texts are left out/)).toBeVisible();
  await expect.element(page.getByText('<img src=x> sort it')).toBeVisible();
  expect(document.querySelector('meta[name="robots"]')?.getAttribute('content')).toBe('noindex');
});

test('a share that has ended says so once, and offers no further attempt', async () => {
  const error = 'This share has ended. Ask the person who sent you the link to share the session again.';
  const ended = new ServiceError(410, { error, code: 'share_ended' }, new Headers());
  await render(<SharePage token="t" read={() => Promise.reject(ended)} />);
  await expect.element(page.getByText('This share has ended.', { exact: true })).toBeVisible();
  expect(
    page
      .getByRole('alert')
      .element()
      .textContent?.match(/has ended/g),
  ).toHaveLength(1);
  expect(page.getByRole('button', { name: 'Try again' }).query()).toBeNull();
});

test('an unknown share does not say that it is private or deleted', async () => {
  const unknown = new ServiceError(404, { error: 'There is no such share.', code: 'not_found' }, new Headers());
  await render(<SharePage token="t" read={() => Promise.reject(unknown)} />);
  await expect
    .element(page.getByText('There is no such share. Ask who sent you the link for a new one.'))
    .toBeVisible();
});

test('a share that failed to load can be retried', async () => {
  const answers = [Promise.reject(new TypeError('away')), Promise.resolve({ shared })];
  await render(<SharePage token="t" read={() => answers.shift() as Promise<{ shared: SharedSession }>} />);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.element(page.getByRole('heading', { name: 'Sort the harbour list' })).toBeVisible();
});

async function openDialog(linkSharing: 'on' | 'off', session: Partial<Session> = {}, owner?: string) {
  const service = createService([['user.message', { text: 'Hello' }]]);
  const { getSession, getSessionFacts } = service.answers;
  service.answers.getSession = (given) => ({ session: { ...getSession?.(given).session, ...session } as Session });
  service.answers.getSessionFacts = (given) => {
    const facts = getSessionFacts?.(given) as SessionFacts;
    return { ...facts, summary: { ...facts.summary, ...(owner && { userId: owner }) } };
  };
  const { answers } = service;
  let shares = [share];
  answers.getPolicy = () => ({ ...DEFAULT_POLICY, linkSharing, retentionBounds: {} as never });
  answers.listMembers = () => ({ users: [] });
  answers.listShares = () => ({ shares });
  answers.createShare = () => ({ share, token: 'token', url: 'https://capture.example.com/s/token' });
  answers.revokeShare = () => {
    shares = [];
    return new Response(null, { status: 204 }) as never;
  };
  await show('/sessions/ses_1', service);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Share…' }).click();
}

test('the address of a share is shown only once', async () => {
  await openDialog('on');
  await page.getByRole('radio', { name: /Anybody with the link/ }).click();
  await page.getByRole('radio', { name: /^Outline/ }).click();
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await expect.element(page.getByText('https://capture.example.com/s/token')).toBeVisible();
});

test('links are not offered if the policy forbids them', async () => {
  await openDialog('off');
  await expect.element(page.getByRole('radio', { name: /The organization/ })).toBeVisible();
  expect(page.getByRole('radio', { name: /Anybody/ }).query()).toBeNull();
});

test('the only member of an organization is not offered to share with a member', async () => {
  await openDialog('off');
  await expect.element(page.getByRole('radio', { name: /The organization/ })).toBeVisible();
  expect(page.getByRole('radio', { name: /A member/ }).query()).toBeNull();
});

const levels = () => page.getByRole('radio', { name: /^(Full|Outline|Figures)/ }).elements().length;

test('a person who may only see the facts of a session can share only its figures, and only with members', async () => {
  await openDialog('on', { visibility: 'facts' }, 'usr_2');
  await expect.element(page.getByRole('radio', { name: /^Figures/ })).toBeChecked();
  expect(levels()).toBe(1);
  expect(page.getByRole('radio', { name: /Anybody/ }).query()).toBeNull();
  await expect.element(page.getByText(/Only the person who ran it can read and share its content/)).toBeVisible();
});

test('the person of a session with visibility facts can share all of it', async () => {
  await openDialog('on', { visibility: 'facts' }, 'usr_1');
  await expect.element(page.getByRole('radio', { name: /^Full/ })).toBeChecked();
  expect(levels()).toBe(3);
});

test('only figures are offered for a session without content', async () => {
  await openDialog('on', { contentExpiredAt: AT });
  await expect.element(page.getByRole('radio', { name: /^Figures/ })).toBeChecked();
  expect(levels()).toBe(1);
});

test('an admin cannot share a private session of somebody else', async () => {
  await openDialog('on', { visibility: 'private' }, 'usr_2');
  await expect.element(page.getByText('Only the person who ran this session can share it')).toBeVisible();
  expect(levels()).toBe(0);
});

test('a share in force is listed with the number of views and can be revoked', async () => {
  await openDialog('off');
  await page.getByText('Shared already').click();
  const listed = page.getByRole('list', { name: 'Shared already' });
  await expect.element(listed.getByText(/Anybody with the link, outline, event 20 to the end/)).toBeVisible();
  await expect.element(listed.getByText(/opened 3 times/)).toBeVisible();
  await listed.getByRole('button', { name: 'Revoke' }).click();
  await expect.element(listed).not.toBeInTheDocument();
});
