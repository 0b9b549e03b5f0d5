import { expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { AuditEntry } from '../../contract/audit.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const NOW = '2026-11-22T12:00:00.000Z';
const row = (name: RegExp) => page.getByRole('row', { name });
const dated = { createdAt: NOW, updatedAt: NOW };
const HASH = '0'.repeat(64);

const entry = (sequence: number, more: Partial<AuditEntry>): AuditEntry => ({
  sequence,
  at: NOW,
  actor: { kind: 'person', id: 'usr_1' },
  action: 'secret.issued',
  target: { kind: 'secret', id: `sec_${sequence}` },
  previous: HASH,
  hash: HASH,
  ...more,
});

function serviceWithLog() {
  const service = createService();
  const asked: Record<string, string>[] = [];
  const organizationId = 'org_1';
  service.answers.listMembers = () => ({
    users: [{ organizationId, userId: 'usr_1', email: 'ada@example.com', role: 'owner', status: 'active', ...dated }],
  });
  service.answers.listSecrets = () => ({ secrets: [] });
  service.answers.listAudit = (given) => {
    asked.push(given);
    if (given.cursor) return { entries: [entry(1, { action: 'organization.created' })], nextCursor: null };
    const changed = { kind: 'person', id: 'usr_gone' } as const;
    const details = { from: 'member', to: 'admin' };
    return {
      entries: [entry(3, { action: 'member.role_changed', target: changed, details }), entry(2, {})],
      nextCursor: 'next',
    };
  };
  return { service, asked };
}

test('the audit log says in words who did what, and shows earlier entries on request', async () => {
  const { service } = serviceWithLog();
  await show('/audit', service);
  await expect
    .element(row(/ada@example\.com changed the role of a former member usr_gone from member to admin/))
    .toBeInTheDocument();
  await expect.element(row(/ada@example\.com issued the secret sec_2/)).toBeInTheDocument();
  await page.getByRole('button', { name: 'Show earlier entries' }).click();
  await expect.element(row(/created the organization/)).toBeInTheDocument();
  await expect.element(page.getByRole('button', { name: 'Show earlier entries' })).not.toBeInTheDocument();
});

test('a page of the audit log that fails to load keeps the earlier entries and can be retried', async () => {
  const { service } = serviceWithLog();
  const { listAudit } = service.answers;
  await show('/audit', service);
  const earlier = page.getByRole('button', { name: 'Show earlier entries' });
  await expect.element(earlier).toBeVisible();
  delete service.answers.listAudit;
  await earlier.click();
  await expect.element(page.getByRole('alert')).toBeVisible();
  await expect.element(row(/issued the secret sec_2/)).toBeInTheDocument();
  Object.assign(service.answers, { listAudit });
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.element(row(/created the organization/)).toBeInTheDocument();
  await expect.element(page.getByRole('alert')).not.toBeInTheDocument();
});

test('a long audit log shows all loaded entries and one button for more', async () => {
  const { service } = serviceWithLog();
  const COUNT = 150;
  service.answers.listAudit = ({ limit, cursor = COUNT + 1 }) => {
    const end = Number(cursor);
    const start = Math.max(1, end - Number(limit));
    const entries = Array.from({ length: end - start }, (_, at) => entry(end - 1 - at, {}));
    return { entries, nextCursor: start === 1 ? null : String(start) };
  };
  await show('/audit', service);
  const buttons = page.getByRole('main').getByRole('button');
  await expect.element(buttons).toHaveTextContent('Show earlier entries');
  await buttons.click();
  await buttons.click();
  await expect.element(row(/issued the secret sec_1 /)).toBeInTheDocument();
  await expect.element(buttons).not.toBeInTheDocument();
});

test('nobody is called a former member before the members are loaded', async () => {
  const { service } = serviceWithLog();
  const { listMembers } = service.answers;
  delete service.answers.listMembers;
  await show('/audit?actor=usr_gone', service);
  await expect.element(row(/usr_1 changed the role of usr_gone from member to admin/)).toBeInTheDocument();
  await expect.element(page.getByRole('combobox', { name: 'Person' })).toHaveDisplayValue('usr_gone');
  Object.assign(service.answers, { listMembers });
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.element(row(/ada@example\.com changed the role of a former member usr_gone/)).toBeInTheDocument();
  await expect.element(page.getByRole('combobox', { name: 'Person' })).toHaveDisplayValue('usr_gone');
});

test('an entry of the audit log shows all of its details', async () => {
  const { service } = serviceWithLog();
  service.answers.listAudit = () => ({
    entries: [
      entry(2, { action: 'member.removed', details: { role: 'admin', status: 'active' } }),
      entry(1, { action: 'machine.sign_in_approved', details: { platform: 'linux' } }),
    ],
    nextCursor: null,
  });
  await show('/audit', service);
  await expect.element(row(/removed sec_2 as admin, status active/)).toBeInTheDocument();
  await expect.element(row(/let the machine sign in sec_1 platform linux/)).toBeInTheDocument();
});

test('the audit log names people, fields and counts in words', async () => {
  const { service } = serviceWithLog();
  const ada = { kind: 'person', id: 'usr_1' } as const;
  service.answers.listEnvironments = () => ({ environments: [] });
  service.answers.listInstallations = () => ({ installations: [] });
  const entries = [
    entry(7, { actor: { kind: 'service', id: 'operator' }, action: 'organization.exported', target: ada }),
    entry(6, { action: 'member.sessions_handed_over', target: ada, details: { to: 'usr_1', sessions: 1 } }),
    entry(5, { action: 'hold.placed', target: { kind: 'hold', id: 'hol_1' }, details: { on: 'person', id: 'usr_1' } }),
    entry(4, { action: 'policy.changed', details: { fields: 'signIn, recordViews' } }),
    entry(3, {
      actor: { kind: 'service', id: 'retention' },
      action: 'session.expired',
      target: { kind: 'session', id: 'ses_1' },
      details: { events: 1_200 },
    }),
    entry(2, {
      action: 'session.deletion_refused',
      target: { kind: 'session', id: 'ses_1' },
      details: { hold: 'hol_1' },
    }),
    entry(8, {
      action: 'session.masked',
      target: { kind: 'session', id: 'ses_1' },
      details: { mask: 'msk_1', events: 34, places: 37, fields: 1, outcome: 'done' },
    }),
    entry(1, { action: 'agent.installed', details: { agent: 'claude-code' } }),
  ];
  service.answers.listAudit = () => ({ entries, nextCursor: null });
  await show('/audit', service);
  for (const words of [
    /the operator of the service exported the data of ada@example\.com/,
    /handed over the machines and sessions of ada@example\.com to ada@example\.com, 1 session /,
    /placed the hold hol_1 on the person ada@example\.com/,
    /changed the policy who may sign in a machine, whether the service records who looks at a session/,
    /the service deleted the expired session ses_1 1,200 events/,
    /could not delete the session ses_1 kept by the hold hol_1/,
    /installed an agent Claude Code/,
    /masked a text in the session ses_1 34 events, 37 places, 1 field /,
  ])
    await expect.element(row(words)).toBeInTheDocument();
});

test('the audit log links existing objects and does not break e-mail addresses inside words', async () => {
  const { service } = serviceWithLog();
  const session = (sessionId: string) => ({ kind: 'session', id: sessionId }) as const;
  const hold = { kind: 'hold', id: 'hol_1' } as const;
  service.answers.listAudit = () => ({
    entries: [
      entry(3, { action: 'hold.placed', target: hold, details: { on: 'session', id: 'ses_held' } }),
      entry(2, { action: 'share.created', target: session('ses_shared'), details: { places: 3 } }),
      entry(1, { action: 'session.deleted', target: session('ses_deleted') }),
    ],
    nextCursor: null,
  });
  await show('/audit', service);
  const linkTo = (name: string) => page.getByRole('link', { name, exact: true });
  await expect.element(linkTo('ses_held')).toHaveAttribute('href', '/sessions/ses_held');
  await expect.element(linkTo('ses_shared')).toHaveAttribute('href', '/sessions/ses_shared');
  await expect.element(linkTo('hol_1')).toHaveAttribute('href', '/holds');
  await expect.element(row(/deleted the session ses_deleted/)).toBeInTheDocument();
  expect(linkTo('ses_deleted').query()).toBeNull();
  const [email] = linkTo('ada@example.com').elements();
  // One line box, in a window in which the longest entry takes all the room.
  expect(email?.getClientRects().length).toBe(1);
});

test('the palette offers the audit log to admins', async () => {
  const { service } = serviceWithLog();
  const { address } = await show('/secrets', service);
  await expect.element(page.getByRole('heading', { name: 'Secrets' })).toBeVisible();
  await userEvent.keyboard('{Control>}k{/Control}');
  await page.getByPlaceholder(/Find a page, an action/).fill('audit');
  await page.getByRole('option', { name: 'Audit log' }).click();
  await expect.poll(address).toBe('/audit');
});

test('a filter of the audit log is part of the address and of the request', async () => {
  const { service, asked } = serviceWithLog();
  const { address } = await show('/audit', service);
  await page.getByRole('combobox', { name: 'Action' }).selectOptions('revoked the secret');
  await page.getByRole('combobox', { name: 'Person' }).selectOptions('ada@example.com');
  await expect.poll(() => asked.at(-1)).toMatchObject({ action: 'secret.revoked', actor: 'usr_1' });
  expect(address()).toContain('action=secret.revoked&actor=usr_1');
});

test('a member sees that only admins may read the audit log', async () => {
  const { service, asked } = serviceWithLog();
  const known = service.answers.getPerson;
  service.answers.getPerson = (given) => ({ ...known?.(given), role: 'member' }) as never;
  await show('/audit', service);
  await expect.element(page.getByText(/Only an owner or an admin may read the audit log/)).toBeInTheDocument();
  expect(asked).toEqual([]);
});

test('a session that is private to another person is not named and not linked', async () => {
  const { service } = serviceWithLog();
  const target = { kind: 'session', id: 'withheld' } as const;
  const details = { from: 'team', to: 'private' };
  service.answers.listAudit = () => ({
    entries: [entry(1, { action: 'session.visibility_changed', target, details, withheld: true })],
    nextCursor: null,
  });
  await show('/audit', service);
  await expect.element(row(/who may see the session \(private\) from team to private/)).toBeInTheDocument();
  expect(page.getByRole('link', { name: 'withheld' }).query()).toBeNull();
});
