import type { Person } from '../../contract/extensions.ts';
import { readLocal, writeLocal } from '../kit/local-storage.ts';

const KEY = 'membership';

/** What this browser remembers of who was a member of what. */
interface Membership {
  userId: string;
  organization: string;
}

/**
 * The name of the organization that the person belonged to when they last looked at it here; undefined for a member, and for
 * who left by themselves. The service forgets a membership with its end.
 */
export function lostMembership({ userId, organization }: Person): string | undefined {
  if (organization) {
    writeLocal(KEY, { userId, organization: organization.name } satisfies Membership);
    return undefined;
  }
  const known = readLocal(KEY) as Partial<Membership> | null | undefined;
  return known?.userId === userId && typeof known.organization === 'string' ? known.organization : undefined;
}

/** Called where the person ends the membership themselves. */
export const forgetMembership = (): void => writeLocal(KEY, null);
