import { createHash } from 'node:crypto';

/**
 * What each of an organization's words begins with in the index, so that no query goes over the words of others. Two
 * organizations may share it; the index leads to chunks, whose organization is asked for as well.
 */
export function wordPrefix(organizationId: string): string {
  const bits = createHash('sha256').update(organizationId).digest().readUInt32BE();
  return bits.toString(36).padStart(LENGTH, '0').slice(-LENGTH);
}

/** Letters and digits: one organization in 1.7 million shares that of another. */
const LENGTH = 4;
