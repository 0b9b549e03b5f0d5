import { beforeAll, expect, test } from 'vitest';
import { picture, shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event, type Recorder } from './steps/recording.ts';
import { openSession } from './steps/timeline.ts';

const product = shareProduct();
let recorder: Recorder;
let tab: Tab;
beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  recorder = await createRecorder(machine);
  tab = await openAsAda(product);
});

test('an admin deletes a session after a confirmation, and its open page shows that it is gone', async () => {
  const sessionId = await recorder.openSession('Not for these eyes');
  await recorder.append(sessionId, [event('user.message', { text: 'what should not have been sent' })]);
  const { page } = tab;
  const watching = await openAsAda(product);
  for (const each of [tab, watching]) each.allow(/status of 404/);
  await openSession(watching.page, product.service, sessionId);
  await openSession(page, product.service, sessionId);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await picture(tab, 'delete-session');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL((url) => url.pathname === '/sessions');
  await expect.poll(() => page.getByText('Not for these eyes').count()).toBe(0);
  await expect.poll(() => watching.page.getByText('what should not have been sent').count()).toBe(0);
});
