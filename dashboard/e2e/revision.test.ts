import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { shareProduct } from './harness/product.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event, type Recorder } from './steps/recording.ts';
import { currentRow, expectAt, isInSight, openSession, rowOfEvent, timelineOf } from './steps/timeline.ts';

const product = shareProduct();
let page: Page;
let recorder: Recorder;
let sessionId: string;

/** The events of one revision of a message. */
const written = (revision: number, ...events: [eventType: string, fields: object][]) =>
  events.map(([eventType, fields], index) =>
    event(eventType, { ...fields, source: { agent: 'gemini-cli', session: 'a', record: 'm1', revision, index } }),
  );

const answers = (count: number) =>
  Array.from({ length: count }, (_, index) => event('assistant.message', { text: `Answer ${index}` }));

beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  recorder = await createRecorder(machine);
  ({ page } = await openAsAda(product));
  sessionId = await recorder.openSession('Written again');
  await recorder.append(sessionId, [
    event('user.message', { text: 'Look' }),
    ...written(1, ['assistant.message', { text: 'I look.' }]),
    ...answers(200),
  ]);
});

const texts = () => timelineOf(page).getByRole('listitem').allInnerTexts();

test('a message that is written again while it is read changes in place', async () => {
  await openSession(page, product.service, sessionId, 2);
  await expectAt(page, 2);
  await timelineOf(page).getByText('I look.').waitFor();
  const place = await currentRow(page).getAttribute('aria-posinset');
  await recorder.append(
    sessionId,
    written(
      2,
      ['assistant.message', { text: 'I look closely.' }],
      ['tool.call', { callId: 'c1', name: 'search', input: { pattern: 'price' } }],
      ['tool.result', { callId: 'c1', output: 'found' }],
    ),
  );
  await timelineOf(page).getByText('I look closely.').waitFor();
  expect((await texts()).join('\n')).not.toContain('I look.');
  expect(await currentRow(page).getAttribute('aria-posinset')).toBe(place);
  expect(await isInSight(page, currentRow(page))).toBe(true);
  const order = (await texts()).join('\n');
  expect(order.indexOf('search')).toBeGreaterThan(order.indexOf('I look closely.'));
  expect(order.indexOf('search')).toBeLessThan(order.indexOf('Answer 0'));
});

test('a link to an earlier revision opens the current one, which shows the earlier one', async () => {
  await openSession(page, product.service, sessionId, 2);
  await currentRow(page).getByText('I look closely.').waitFor();
  expect(await rowOfEvent(page, 203).and(currentRow(page)).count()).toBe(1);
  await page.keyboard.press('Enter');
  const inspector = page.getByRole('complementary', { name: 'Inspector' });
  await inspector.getByText('1 earlier revision').click();
  await inspector.getByText('"I look."').waitFor();
});
