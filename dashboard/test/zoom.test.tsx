import { afterEach, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { call, type Given, result } from '../session/model/test/events.ts';
import { createService } from './service.ts';
import { show } from './show.tsx';
import { area } from './timeline.ts';

/** A window of 1440 × 900 and one of 1920 × 1080 pixels, at a zoom of 200 %. */
const ENLARGED = [
  [720, 450],
  [960, 540],
] as const;
const NOW = '2026-11-22T12:00:00.000Z';

afterEach(() => page.viewport(1280, 800));

/** Whether a person can see all of the element without scrolling. */
function isInWindow(element: Element): boolean {
  const { top, left, right, bottom } = element.getBoundingClientRect();
  return top >= 0 && left >= 0 && right <= window.innerWidth && bottom <= window.innerHeight;
}

test.each(ENLARGED)(
  'at %i × %i the timeline gets most of the height once the reader scrolls',
  async (width, height) => {
    await page.viewport(width, height);
    const answers = Array.from(
      { length: 40 },
      (_, at): Given => ['assistant.message', { text: `${at} words `.repeat(60) }],
    );
    await show('/sessions/ses_1', createService([['user.message', { text: 'Go on.' }], ...answers]));
    await expect.poll(() => document.querySelector('[data-complete="true"] .timeline-row')).not.toBeNull();
    area().scrollBy(0, 2_000);
    await expect.poll(() => area().getBoundingClientRect().top / window.innerHeight).toBeLessThan(0.35);
    expect(area().getBoundingClientRect().bottom).toBeLessThanOrEqual(window.innerHeight);
    const strip = document.querySelector('.strip') as Element;
    expect(isInWindow(strip)).toBe(height > 500);
    area().scrollTo(0, 0);
    await expect.poll(() => isInWindow(document.querySelector('main h1') as Element)).toBe(true);
  },
);

test.each(ENLARGED)('at %i × %i every action of a table is in sight', async (width, height) => {
  await page.viewport(width, height);
  const service = createService();
  const { answers } = service;
  const dated = { createdAt: NOW, updatedAt: NOW };
  answers.listMembers = () => ({
    users: [
      { organizationId: 'org_1', userId: 'usr_1', email: 'ada@example.com', role: 'owner', status: 'active', ...dated },
      ...Array.from({ length: 3 }, (_, at) => ({
        ...{ organizationId: 'org_1', userId: `usr_${at + 2}`, role: 'member' as const, ...dated },
        email: `${'a-rather-long-name'.repeat(3)}-${at}@some-department.example.com`,
        status: at === 0 ? ('invited' as const) : ('active' as const),
      })),
    ],
  });
  await show('/members', service);
  const buttons = () => [...document.querySelectorAll('.table button')];
  await expect.poll(() => buttons().length).toBeGreaterThan(3);
  for (const button of buttons()) {
    expect(button.getBoundingClientRect().left).toBeGreaterThanOrEqual(0);
    expect(button.getBoundingClientRect().right).toBeLessThanOrEqual(window.innerWidth);
  }
});

test('at a low height, the person and all of their menu are in sight', async () => {
  await page.viewport(720, 450);
  await show('/members', createService());
  const person = page.getByRole('button', { name: /sign out/ });
  await expect.poll(() => isInWindow(person.element())).toBe(true);
  await person.click();
  const item = page.getByRole('menuitem', { name: 'Sign out' });
  await expect.element(item).toBeVisible();
  expect(isInWindow(item.element())).toBe(true);
});

test('on a phone, a long path is cut at its beginning, so that the name of the file stays', async () => {
  await page.viewport(390, 844);
  const path = `${'some-long-folder/'.repeat(12)}name.ts`;
  const edit = { file_path: `/w/${path}`, old_string: 'a', new_string: 'b' };
  await show('/sessions/ses_1?view=changes', createService([call('a', 'Edit', edit), result('a')]));
  await expect.poll(() => document.querySelector('[data-file] .path bdi')).not.toBeNull();
  const [outer, text] = ['.path', '.path bdi'].map((part) => document.querySelector(`[data-file] ${part}`) as Element);
  const [box, name] = [outer, text].map((each) => (each as Element).getBoundingClientRect());
  expect(text?.textContent).toMatch(/name\.ts$/);
  expect(name?.left).toBeLessThan(box?.left ?? 0);
  expect(name?.right).toBeLessThanOrEqual(box?.right ?? 0);
});
