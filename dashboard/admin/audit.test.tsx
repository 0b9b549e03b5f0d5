import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { AuditEntry } from '../../contract/audit.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const NOW = '2026-11-22T12:00:00.000Z';
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
  const row = (name: RegExp) => page.getByRole('row', { name });
  await expect
    .element(row(/ada@example\.com changed the role of a former member from member to admin/))
    .toBeInTheDocument();
  await expect.element(row(/ada@example\.com issued the secret sec_2/)).toBeInTheDocument();
  await page.getByRole('button', { name: 'Show earlier entries' }).click();
  await expect.element(row(/created the organization/)).toBeInTheDocument();
  await expect.element(page.getByRole('button', { name: 'Show earlier entries' })).not.toBeInTheDocument();
});

test('a filter of the audit log stands in the address and is asked of the service', async () => {
  const { service, asked } = serviceWithLog();
  const { address } = await show('/audit', service);
  await page.getByRole('combobox', { name: 'Action' }).selectOptions('revoked the secret');
  await page.getByRole('combobox', { name: 'Person' }).selectOptions('ada@example.com');
  await expect.poll(() => asked.at(-1)).toMatchObject({ action: 'secret.revoked', actor: 'usr_1' });
  expect(address()).toContain('action=secret.revoked&actor=usr_1');
});

test('a member is told that only admins read the audit log', async () => {
  const { service, asked } = serviceWithLog();
  const known = service.answers.getPerson;
  service.answers.getPerson = (given) => ({ ...known?.(given), role: 'member' }) as never;
  await show('/audit', service);
  await expect.element(page.getByText(/Only an owner or an admin may read the audit log/)).toBeInTheDocument();
  expect(asked).toEqual([]);
});
