import { afterEach, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { sessionRow } from '../test/rows.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

afterEach(() => page.viewport(1280, 800));

const press = (keys: string) => userEvent.keyboard(keys);
const preview = () => page.getByRole('complementary', { name: 'Preview' }).query();

test.each(['{Escape}', ' '])('where a session is previewed from the start, %j closes the preview', async (key) => {
  await page.viewport(2400, 1000);
  await show('/sessions', createService([], [sessionRow('ses_1'), sessionRow('ses_2')]));
  await expect.poll(preview).not.toBeNull();
  await press('j');
  await expect.poll(() => (document.activeElement as HTMLElement).dataset.session).toBe('ses_1');
  await press(key);
  await expect.poll(preview).toBeNull();
  await press('j');
  await expect.poll(() => (document.activeElement as HTMLElement).dataset.session).toBe('ses_2');
  expect(preview()).toBeNull();
});
