import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { SessionFacts } from '../../contract/review.ts';
import type { SessionViews } from '../../contract/session-view.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const LOOK = {
  userId: 'usr_other',
  kind: 'opened',
  firstAt: '2026-11-20T10:00:00.000Z',
  lastAt: '2026-11-20T10:30:00.000Z',
  count: 2,
  surface: 'dashboard',
  network: '192.0.2.0/24',
} as const;

async function open(userId: string | undefined, views: SessionViews) {
  const service = createService([['user.message', { text: 'Go on.' }]]);
  const { getSessionFacts } = service.answers;
  service.answers.getSessionFacts = (given) => {
    const facts = getSessionFacts?.(given) as SessionFacts;
    return { ...facts, summary: { ...facts.summary, ...(userId && { userId }) } };
  };
  let asked = 0;
  service.answers.listSessionViews = () => {
    asked++;
    return views;
  };
  service.answers.listMembers = () => ({ users: [] }) as never;
  await show('/sessions/ses_1', service);
  await expect.poll(() => document.querySelector('[data-complete="true"]')).not.toBeNull();
  return () => asked;
}

test('the person of a session sees who looked at it, how, how often and from where', async () => {
  await open(undefined, { isRecorded: true, views: [LOOK, { ...LOOK, kind: 'found', count: 1, surface: 'api' }] });
  await page.getByText('Seen by a former member').click();
  const rows = page.getByRole('list', { name: 'Who looked' }).getByRole('listitem');
  for (const [at, words] of [
    /^a former member opened it 2 times .*from a browser in 192\.0\.2\.0\/24$/,
    /^a former member saw parts of it in a search .*from a program in/,
  ].entries())
    await expect.poll(() => rows.nth(at).element().textContent).toMatch(words);
});

test('the header of a session keeps its height when its facts arrive', async () => {
  const service = createService([['user.message', { text: 'Go on.' }]]);
  const { getSessionFacts, getSession } = service.answers;
  const { session } = getSession?.({ sessionId: 'ses_2' }) ?? {};
  let arrive = () => {};
  service.answers.getSessionFacts = (given) => {
    const related = [{ relation: 'forkedFrom', session }] as SessionFacts['related'];
    const known = getSessionFacts?.(given) as SessionFacts;
    const facts = { ...known, summary: { ...known.summary, userId: 'usr_1' }, holdId: 'hol_1', related };
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        arrive = () => {
          stream.enqueue(new TextEncoder().encode(JSON.stringify(facts)));
          stream.close();
        };
      },
    });
    return new Response(body, { headers: { 'content-type': 'application/json' } }) as never;
  };
  service.answers.listSessionViews = () => ({ isRecorded: true, views: [LOOK] });
  service.answers.listMembers = () => ({ users: [] }) as never;
  await show('/sessions/ses_1', service);
  await expect.poll(() => document.querySelector('[data-complete="true"]')).not.toBeNull();
  const height = () => document.querySelector('main header')?.clientHeight;
  const before = height();
  arrive();
  await expect.element(page.getByText('Seen by a former member')).toBeVisible();
  await expect.element(page.getByRole('list', { name: 'Related sessions' })).toBeVisible();
  await expect.element(page.getByText('held')).toBeVisible();
  expect(height()).toBe(before);
});

test('other people do not request who looked', async () => {
  const asked = await open('usr_other', { isRecorded: true, views: [LOOK] });
  expect(page.getByText(/Seen by/).query()).toBeNull();
  expect(asked()).toBe(0);
});

test('a session says that the organization does not record who looks', async () => {
  await open(undefined, { isRecorded: false, views: [] });
  await expect.element(page.getByText(/does not record who looks at sessions/)).toBeVisible();
});
