import { afterEach, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { EventPage } from '../../contract/event.ts';
import type { SessionFacts } from '../../contract/review.ts';
import { call, result } from '../session/model/test/events.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { wordsOf } from '../test/timeline.ts';

afterEach(() => page.viewport(1280, 800));

test('the comparison has figures, prompts by turn and files by path, and does not scroll sideways on a phone', async () => {
  await page.viewport(320, 640);
  const service = createService([['user.message', { text: 'Go on.' }], call('a'), result('a')]);
  const file = { path: '/src/a.ts', edits: 1, added: 2, removed: 1, sequence: 2 };
  const { getSessionFacts } = service.answers;
  const turn = { sequence: 1, prompt: 'Go on.', calls: 1, failures: 0 };
  service.answers.getSessionFacts = (given) => ({
    ...(getSessionFacts?.(given) as SessionFacts),
    ...{ files: [file], turns: given.sessionId === 'ses_1' ? [turn] : [turn, { ...turn, prompt: '' }] },
  });
  await show('/compare?one=ses_1&other=ses_2', service);
  const words = () => wordsOf(document.querySelector('main') ?? undefined);
  await expect
    .poll(words)
    .toMatch(/turn 1 Go on. 1 call Go on. 1 call turn 2 – Image 1 call .*\/src\/a.ts \+2 −1 \+2 −1/);
  const { scrollWidth, clientWidth } = document.querySelector('main') as HTMLElement;
  expect(scrollWidth).toBe(clientWidth);
});

test('the comparison reads the facts of each session once, and no events', async () => {
  const service = createService([['user.message', { text: 'Go on.' }]]);
  const { getSessionFacts, getEventWindow } = service.answers;
  const read: string[] = [];
  service.answers.getSessionFacts = (given) => {
    read.push(`facts of ${given.sessionId}`);
    return getSessionFacts?.(given) as SessionFacts;
  };
  service.answers.getEventWindow = (given) => {
    read.push(`events of ${given.sessionId}`);
    return getEventWindow?.(given) as EventPage;
  };
  await show('/compare?one=ses_1&other=ses_2', service);
  await expect.poll(() => wordsOf(document.querySelector('main') ?? undefined)).toContain('Neither session edited');
  expect(read.toSorted()).toEqual(['facts of ses_1', 'facts of ses_2']);
});
