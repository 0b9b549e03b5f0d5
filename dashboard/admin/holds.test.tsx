import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { Hold } from '../../contract/hold.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const NOW = '2026-11-22T12:00:00.000Z';
const hold = (holdId: string, more: Partial<Hold>): Hold => ({
  ...{ holdId, target: { kind: 'everything' }, reason: 'a lawsuit', placedBy: 'usr_1', placedAt: NOW },
  ...more,
});

function serviceWith(holds: Hold[]) {
  const service = createService();
  service.answers.listMembers = () => ({ users: [] });
  service.answers.listHolds = () => ({ holds });
  service.answers.releaseHold = ({ holdId }) => {
    const at = holds.findIndex((each) => each.holdId === holdId);
    holds[at] = hold(String(holdId), { releasedBy: 'usr_1', releasedAt: NOW });
    return { hold: holds[at] };
  };
  return service;
}

test('a hold is released after a confirmation and stays in the list', async () => {
  await show('/holds', serviceWith([hold('hol_1', {})]));
  const row = page.getByRole('row', { name: /everything a lawsuit/ });
  await expect.element(row.getByText('in force')).toBeVisible();
  await row.getByRole('button', { name: 'Release' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
  await expect.element(row.getByText('in force')).not.toBeInTheDocument();
  await expect.element(row.getByRole('button')).not.toBeInTheDocument();
});

test('a hold is placed on the session in the address', async () => {
  const holds: Hold[] = [];
  const service = serviceWith(holds);
  service.answers.placeHold = () => {
    holds.push(hold('hol_2', { target: { kind: 'session', id: 'ses_1' } }));
    return { hold: hold('hol_2', {}) };
  };
  await show('/holds?session=ses_1', service);
  await expect.element(page.getByLabelText('Id of the session')).toHaveValue('ses_1');
  await page.getByLabelText(/Reason/).fill('a lawsuit');
  await page.getByRole('button', { name: 'Place', exact: true }).click();
  await expect.element(page.getByRole('link', { name: 'ses_1' })).toBeInTheDocument();
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
});

test('a held session is marked', async () => {
  const service = createService([['user.message', { text: 'hello' }]]);
  const { getSessionFacts } = service.answers;
  if (!getSessionFacts) throw new Error('the service has facts');
  service.answers.getSessionFacts = (given) => ({ ...getSessionFacts(given), holdId: 'hol_1' });
  await show('/sessions/ses_1', service);
  await expect.element(page.getByText('held', { exact: true })).toBeVisible();
});

test('a hold in force says how many sessions it covers, and a refused one shows the reason of the service', async () => {
  const target = { kind: 'repository', id: 'github.com/acme/shop' } as const;
  const service = serviceWith([hold('hol_1', { target, sessions: 6 })]);
  const error = 'No session of this repository. Choose one of the list.';
  service.answers.placeHold = () => Response.json({ error, code: 'not_found' }, { status: 404 }) as never;
  await show('/holds', service);
  await expect.element(page.getByText('in force, 6 sessions now')).toBeVisible();
  await page.getByRole('button', { name: 'Place a hold' }).click();
  await page.getByRole('dialog').getByRole('combobox').selectOptions('a repository');
  await page.getByLabelText('Repository, such as owner/name').fill('acme/shpo');
  await page.getByLabelText(/Reason/).fill('a lawsuit');
  await page.getByRole('button', { name: 'Place', exact: true }).click();
  await expect.element(page.getByText(/No session of this repository\. Choose/)).toBeVisible();
});
