import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { shareProduct } from './harness/product.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event, type Recorder } from './steps/recording.ts';
import { isInSight, openSession, rowOfEvent, timelineOf } from './steps/timeline.ts';

const product = shareProduct();
let page: Page;
let recorder: Recorder;

beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  recorder = await createRecorder(machine);
  ({ page } = await openAsAda(product));
});

const answers = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    event(index === 0 ? 'user.message' : 'assistant.message', { text: `Line ${index}\n\n${'words '.repeat(40)}` }),
  );
const scrolled = () => timelineOf(page).evaluate(({ scrollTop }) => scrollTop);
const toEnd = (name: string) => page.getByRole('button', { name });

describe.each([7, 12, 1500])('a live session of %i events', (count) => {
  let sessionId: string;

  beforeAll(async () => {
    sessionId = await recorder.openSession(`With ${count} events`);
    await recorder.append(sessionId, answers(count));
  });

  test('opens at its top and offers a button to its end', async () => {
    await openSession(page, product.service, sessionId);
    await toEnd('Go to the end').waitFor();
    expect(await scrolled()).toBe(0);
  });

  test('stays there when events arrive, and counts them', async () => {
    await recorder.append(sessionId, answers(3));
    await toEnd('3 new').waitFor();
    expect(await scrolled()).toBe(0);
  });

  test('is followed once the reader has gone to its end', async () => {
    await toEnd('3 new').click();
    await expect.poll(() => isInSight(page, rowOfEvent(page, count + 3))).toBe(true);
    await expect.poll(() => toEnd('3 new').count()).toBe(0);
    await recorder.append(sessionId, answers(2));
    await expect.poll(() => isInSight(page, rowOfEvent(page, count + 5))).toBe(true);
  });
});
