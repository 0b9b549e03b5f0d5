import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { SessionFacts } from '../../contract/review.ts';
import type { Visibility } from '../../contract/session.ts';
import type { Share } from '../../contract/share.ts';
import { sessionRow } from '../test/rows.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

function serviceWith(visibility: Visibility, mayChangeVisibility = true) {
  const row = sessionRow('ses_1');
  const known = { ...row, session: { ...row.session, visibility, mayChangeVisibility } };
  return createService([['user.message', { text: 'Hello' }]], [known]);
}

async function openDialog(service: ReturnType<typeof serviceWith>) {
  await show('/sessions/ses_1', service);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Who may see it…' }).click();
}
const option = (name: RegExp) => page.getByRole('radio', { name });
const save = () => page.getByRole('button', { name: 'Save' });

test('a session that not every member may read is marked on its page and in the list', async () => {
  const { close } = await show('/sessions/ses_1', serviceWith('private'));
  await expect.element(page.getByTitle('Only the person who ran this session can see it')).toHaveTextContent('private');
  await close();
  await show('/sessions', serviceWith('facts'));
  await expect.element(page.getByTitle(/others see its facts/)).toHaveTextContent('facts');
});

test('a person who may only see the facts of a session sees its files and tools, and no error', async () => {
  const service = serviceWith('facts');
  const { getSessionFacts } = service.answers;
  service.answers.getSessionFacts = (given) => ({
    ...(getSessionFacts?.(given) as SessionFacts),
    files: [{ path: 'src/harbour.ts', edits: 1, added: 3, removed: 1, sequence: 1 }],
    tools: [{ name: 'Edit', calls: 4, failed: 1 }],
  });
  const refusal = { error: 'Only the person of this session may read what was said in it.', code: 'content_withheld' };
  const refuse = () => Response.json(refusal, { status: 403 }) as never;
  service.answers.getSessionIndex = refuse;
  service.answers.listSessionEvents = refuse;
  service.answers.getEventWindow = refuse;
  await show('/sessions/ses_1', service);
  await expect.element(page.getByRole('row', { name: /src\/harbour\.ts \+3 −1/ })).toBeVisible();
  await expect.element(page.getByRole('row', { name: 'Edit 4 1' })).toBeVisible();
  expect(page.getByRole('alert').query()).toBeNull();
  expect(page.getByRole('tab', { name: 'Timeline' }).query()).toBeNull();
});

test('the person of a session chooses who may see it', async () => {
  const service = serviceWith('team');
  let isChanged = false;
  service.answers.changeVisibility = () => {
    isChanged = true;
    return { visibility: 'private' };
  };
  await openDialog(service);
  await expect.element(option(/^Team/)).toBeChecked();
  await expect.element(save()).toBeDisabled();
  await option(/^Private/).click();
  await save().click();
  await expect.poll(() => isChanged).toBe(true);
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
});

test('an admin who hides a session of nobody is warned that nobody will see it', async () => {
  await openDialog(serviceWith('team'));
  const text = () => document.querySelector('dialog')?.textContent;
  await expect.element(option(/^Team/)).toBeChecked();
  expect(text()).not.toContain('belongs to nobody');
  await option(/^Private/).click();
  await expect.poll(text).toContain('belongs to nobody');
});

test('the person of a session sees which shares stay when they hide it, and ends them', async () => {
  const service = serviceWith('team');
  const shared = (shareId: string, by: string, audience: Share['audience'], level: Share['level'] = 'full') => ({
    ...{ shareId, by, audience, level, sessionId: 'ses_1', createdAt: '2026-11-22T12:00:00.000Z', views: 0 },
    expiresAt: '2999-01-01T00:00:00.000Z',
  });
  let shares: Share[] = [
    shared('shr_own', 'usr_1', 'organization'),
    shared('shr_link', 'usr_1', 'link'),
    shared('shr_other', 'usr_2', 'organization'),
    shared('shr_figures', 'usr_2', 'organization', 'figures'),
  ];
  service.answers.listMembers = () => ({ users: [] });
  service.answers.listShares = () => ({ shares });
  service.answers.revokeShare = ({ shareId }) => {
    shares = shares.filter((share) => share.shareId !== shareId);
    return new Response(null, { status: 204 }) as never;
  };
  await openDialog(service);
  const staying = page.getByRole('list', { name: 'Shares that stay' });
  await expect.element(option(/^Team/)).toBeChecked();
  await expect.element(staying).not.toBeInTheDocument();
  await option(/^Facts/).click();
  await expect.poll(() => staying.getByRole('listitem').elements().length).toBe(2);
  await option(/^Private/).click();
  await expect.poll(() => staying.getByRole('listitem').elements().length).toBe(1);
  await expect.element(staying.getByText(/The organization, full/)).toBeVisible();
  await staying.getByRole('button', { name: 'Revoke' }).click();
  await expect.element(staying).not.toBeInTheDocument();
  expect(shares.map(({ shareId }) => shareId)).toEqual(['shr_link', 'shr_other', 'shr_figures']);
});

test('a person who may not change the visibility is not offered to', async () => {
  await show('/sessions/ses_1', serviceWith('facts', false));
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await expect.element(page.getByRole('menuitem', { name: 'Keyboard shortcuts' })).toBeVisible();
  await expect.element(page.getByRole('menuitem', { name: 'Who may see it…' })).not.toBeInTheDocument();
});

test('a person who may no longer change the visibility sees why', async () => {
  await openDialog(serviceWith('team'));
  await option(/^Facts/).click();
  await save().click();
  await expect.poll(() => page.getByRole('alert').query()?.textContent).toMatch(/^Not found\./);
});
