import { beforeEach, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { cleanup } from 'vitest-browser-react';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { call, type Given, result } from './model/test/events.ts';

const PATHS = ['/w/src/a.ts', '/w/src/b.ts', '/w/readme.md'];
const EVENTS: Given[] = [
  ['user.message', { text: 'Mend it.' }],
  ...PATHS.flatMap((path, at): Given[] => [
    ['assistant.message', { text: `Because of ${at + 1}.` }],
    call(`c${at}`, 'Edit', { file_path: path, old_string: 'old', new_string: 'new' }),
    result(`c${at}`),
  ]),
];

let address: () => string;
const boxes = () => [...document.querySelectorAll<HTMLElement>('[data-file]')];
const names = () => boxes().map((box) => box.querySelector('button .font-mono')?.textContent);
const open = () => boxes().map((box) => box.querySelector('button')?.ariaExpanded === 'true');
const viewed = () => boxes().map((box) => box.querySelector('input')?.checked);

async function start(): Promise<void> {
  const service = createService(EVENTS);
  const { getSessionFacts } = service.answers;
  service.answers.getSessionFacts = (given) => ({ ...(getSessionFacts?.(given) as object), folder: '/w' }) as never;
  ({ address } = await show('/sessions/ses_1?view=changes', service));
  await expect.poll(names).toEqual(['src/a.ts', 'src/b.ts', 'readme.md']);
}

beforeEach(() => localStorage.clear());

test('files are in the order of the tree, which links to each', async () => {
  await start();
  await page.getByRole('navigation', { name: 'Changed files' }).getByRole('button', { name: /^b.ts/ }).click();
  await expect.poll(() => document.activeElement?.textContent).toContain('src/b.ts');
});

test('keys move between files and mark them as viewed, which is stored', async () => {
  await start();
  await userEvent.keyboard('jj');
  await expect.poll(() => document.activeElement?.textContent).toContain('src/b.ts');
  await userEvent.keyboard('v');
  await expect.poll(viewed).toEqual([false, true, false]);
  expect(open()).toEqual([true, false, true]);
  await cleanup();
  await start();
  await expect.poll(viewed).toEqual([false, true, false]);
  expect(open()).toEqual([true, false, true]);
});

test('above each hunk is its reason, which links to the message', async () => {
  await start();
  await page.getByRole('button', { name: 'Because of 2.' }).click();
  await expect.poll(address).toContain('e=5');
});
