import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { SessionFacts } from '../../../contract/review.ts';
import { createService } from '../../test/service.ts';
import { show } from '../../test/show.tsx';
import { drawnRows, expectAt } from '../../test/timeline.ts';
import { call, type Given, result } from '../../timeline/test/events.ts';

const EVENTS: Given[] = [
  ['user.message', { text: 'Go on.' }],
  call('a', 'Edit', { file_path: '/a.ts', old_string: 'a', new_string: 'b' }),
  result('a'),
  ['assistant.message', { text: 'All is well.' }],
];

async function open(query = '', facts: Partial<SessionFacts> = {}): Promise<void> {
  const service = createService(EVENTS);
  const { getSessionFacts } = service.answers;
  service.answers.getSessionFacts = (given) => ({ ...(getSessionFacts?.(given) as SessionFacts), ...facts });
  await show(`/sessions/ses_1${query}`, service);
  await expect.poll(() => document.querySelector('[data-complete="true"]')).not.toBeNull();
}
const press = (keys: string) => userEvent.keyboard(keys);

beforeEach(() => localStorage.clear());
afterEach(() => void vi.restoreAllMocks());

describe('what fails while it is drawn says so, and the session stays:', () => {
  beforeEach(() => void vi.spyOn(console, 'error').mockReturnValue());
  const told = (of: string) => expect.element(page.getByText(`${of} cannot be shown.`)).toBeVisible();

  test('the strip', async () => {
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(() => {
      throw new Error('of this canvas');
    });
    await open();
    await told('The strip');
    await expect.poll(() => drawnRows().length).toBe(3);
  });

  // As of a service that is newer than the page.
  const milestone = { kind: 'unheard-of', text: '', sequence: 1, time: '2026-11-22T12:00:00.000Z' };
  const facts = { milestones: [milestone], folder: 7 } as unknown as Partial<SessionFacts>;

  test('prompts, and what the inspector shows while no row is chosen', async () => {
    await open('', facts);
    await told('The prompts');
    await press('{Enter}');
    await told('This');
    await press('j');
    await expect.element(page.getByText('This cannot be shown.')).not.toBeInTheDocument();
    await expectAt(1);
  });

  test('changes', async () => {
    await open('?view=changes', facts);
    await told('What was changed');
    await page.getByRole('button', { name: 'Timeline' }).click();
    await expect.poll(() => drawnRows().length).toBe(3);
  });
});
