import { expect, test } from 'vitest';
import { shareProduct } from './harness/product.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event } from './steps/recording.ts';
import { openSession, rowOfEvent } from './steps/timeline.ts';

const product = shareProduct();

test('the outline of thousands of prompts draws few of them and follows the timeline', async () => {
  const PROMPTS = 5000;
  const { machine } = await prepareOrganization(product.service);
  const recorder = await createRecorder(machine);
  const { page } = await openAsAda(product);
  const sessionId = await recorder.openSession('Much asked');
  await recorder.append(
    sessionId,
    Array.from({ length: PROMPTS }, (_, index) => event('user.message', { text: `Question ${index + 1}` })),
  );
  const outline = page.getByRole('navigation', { name: 'Prompts' });
  const current = outline.locator('[aria-current]');
  const isCurrentInSight = async () => {
    const [outer, inner] = await Promise.all([outline.boundingBox(), current.boundingBox()]);
    return !!outer && !!inner && inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height;
  };
  for (const sequence of [1, 3000]) {
    await openSession(page, product.service, sessionId, sequence);
    await expect.poll(() => rowOfEvent(page, sequence).count()).toBe(1);
    await page.getByRole('button', { name: 'Go to the end' }).waitFor();
    await expect.poll(isCurrentInSight).toBe(true);
    expect(await outline.getByRole('button').count()).toBeLessThan(100);
  }
  await page.keyboard.press('Shift+G');
  await expect.poll(() => current.textContent()).toMatch(/Question 5000$/);
  await expect.poll(isCurrentInSight).toBe(true);
});
