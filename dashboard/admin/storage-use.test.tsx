import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const GB = 1_000_000_000;

test.each([
  [
    { bytes: 41 * GB, bytesAWeek: 1.2 * GB, quotaBytes: 100 * GB, fullInDays: 344 },
    '41 GB of 100 GB used, machines send about 1.2 GB a week, full in about 11 months',
  ],
  [{ bytes: 1_234, bytesAWeek: 0 }, '1.2 kB stored'],
  [
    { bytes: GB, bytesAWeek: GB, quotaBytes: GB, fullInDays: 0 },
    '1.0 GB of 1.0 GB used, machines send about 1.0 GB a week, full',
  ],
])('the page of the organization shows the storage use: %j', async (stored, says) => {
  const service = createService();
  service.answers.getStorage = () => ({ bytesToday: 0, ...stored });
  await show('/organization', service);
  await expect.element(page.getByText(says, { exact: true })).toBeVisible();
});
