import { join } from 'node:path';
import type { Decisions } from '../spool/decisions.ts';
import { stampOf } from './discover.ts';
import { readKeys, type Unread } from './identify.ts';
import type { Identify } from './identity.ts';

/**
 * Takes note of the records of a file whose session is kept back, by hashes of their keys: a copy of one tells a fork. Nothing
 * of what they say is kept. Returns what writes it down, undefined where nothing is new.
 */
export function findKept(
  decisions: Decisions,
  identify: Identify,
  { found, origin, stored }: Pick<Unread, 'found' | 'origin' | 'stored'>,
): (() => void) | undefined {
  const path = join(found.root, found.path);
  const stamp = stampOf(found);
  if (stored || decisions.keptFile(path) === stamp) return undefined;
  const agent = found.agent.id;
  const keys = readKeys(found).map((key) => identify(`${agent} ${key}`));
  return () => {
    for (const key of keys) decisions.addKept(agent, origin.session, key);
    decisions.setKeptFile(path, stamp);
  };
}
