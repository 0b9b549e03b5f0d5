import { describe, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

describe('hidden characters in names from other people are visible', () => {
  const NAME = 'ac\u202eme';
  const HIDING = /[\u202a-\u202e]/;
  const NOW = '2026-11-22T12:00:00.000Z';
  const organization = { organizationId: 'org_1', name: NAME, status: 'active', ownerUserId: 'usr_1' } as const;
  const member = { userId: 'usr_1', emailVerified: true, role: 'owner', email: `${NAME}@example.com` } as const;
  const dated = { createdAt: NOW, updatedAt: NOW };

  function serviceOf(isMember: boolean) {
    const service = createService();
    const invitations = [{ organizationId: 'org_2', organizationName: NAME, role: 'member' as const }];
    service.answers.getPerson = () =>
      isMember
        ? { ...member, organization: { ...organization, ...dated } }
        : { userId: 'usr_1', emailVerified: true, invitations };
    service.answers.listMembers = () => ({
      users: ['usr_1', 'usr_2'].map((userId) => ({
        ...{ organizationId: 'org_1', userId, email: member.email, role: 'owner', status: 'active', ...dated },
      })),
    });
    return service;
  }

  function expectNothingHidden(): void {
    const attributes = ['title', 'aria-label', 'aria-valuetext'];
    const told = [...document.querySelectorAll('#root *')].flatMap((each) =>
      attributes.map((name) => each.getAttribute(name) ?? ''),
    );
    expect([document.body.textContent, ...told].filter((text) => HIDING.test(text ?? ''))).toEqual([]);
  }

  test.each([
    ['/welcome', false],
    ['/welcome', true],
    ['/device', true],
    ['/members', true],
  ])('at %s (of a member: %j)', async (path, isMember) => {
    await show(path, serviceOf(isMember));
    await expect.poll(() => document.body.textContent).toContain('⟨U+202E⟩');
    expectNothingHidden();
  });

  test.each(['Leave', 'Change role of', 'Remove'])('in the dialog of %s', async (action) => {
    await show('/members', serviceOf(true));
    await page
      .getByRole('button', { name: new RegExp(`^${action}`) })
      .first()
      .click();
    await expect.poll(() => page.getByRole('dialog').query()?.textContent).toContain('⟨U+202E⟩');
    expectNothingHidden();
  });
});
