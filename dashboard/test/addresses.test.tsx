import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { createService } from './service.ts';
import { show } from './show.tsx';

test('a session is shown although its address names an unknown view and an invalid event', async () => {
  await show('/sessions/ses_1?view=moon&e=x', createService([['user.message', { text: 'Go on.' }]]));
  await expect.element(page.getByLabelText('Timeline').getByText('Go on.')).toBeVisible();
});

test.each([
  ['/sessions?order=name&direction=up&plane=moon', 'searchSessions'],
  ['/?days=8&by=moon', 'getUsage'],
] as const)('%s asks the service for nothing that it refuses', async (address, route) => {
  const service = createService();
  const asked: Record<string, string>[] = [];
  service.answers[route] = (given: Record<string, string>) => {
    asked.push(given);
    return new Response(null, { status: 503 }) as never;
  };
  await show(address, service);
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  const values = Object.values(asked[0] ?? {});
  for (const invalid of ['name', 'up', 'moon', '8', 'Invalid Date']) expect(values).not.toContain(invalid);
});
