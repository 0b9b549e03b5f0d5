import type { Person } from '../../contract/extensions.ts';
import { readLocal, writeLocal } from '../kit/local-storage.ts';

const KEY = 'membership';

/** The last membership of a person, stored in this browser. */
interface Membership {
  userId: string;
  organization: string;
}

/**
 * Names the organization that removed this person. The service forgets a membership when it ends, so this browser remembers
 * it. Undefined for members and for people who left by themselves.
 */
export function lostMembership({ userId, organization }: Person): string | undefined {
  if (organization) {
    writeLocal(KEY, { userId, organization: organization.name } satisfies Membership);
    return undefined;
  }
  const known = readLocal(KEY) as Partial<Membership> | null | undefined;
  return known?.userId === userId && typeof known.organization === 'string' ? known.organization : undefined;
}

/** Called when the person ends the membership themselves. */
export const forgetMembership = (): void => writeLocal(KEY, null);
