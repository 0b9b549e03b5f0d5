import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Account } from '../account.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { isLocked, type Lock, takeLock } from '../lock.ts';

/**
 * One daemon a home and an organization: two with a state folder each would not know of each other, and capture every
 * record twice. The lock lies in the home, wherever the state is, so that it is also seen by another machine that shares
 * the home, as far as its file system shares locks. Undefined where it cannot be had for want of a writable home.
 */
export function claimHome({ home }: Pick<Context, 'home'>, account: Account | undefined): Lock | undefined {
  if (account === undefined) return undefined;
  let lock: Lock | undefined;
  try {
    lock = takeLock(...lockOf(home, account));
  } catch {
    return undefined;
  }
  if (lock !== undefined) return lock;
  throw new Failure(
    EXIT.failure,
    `Another \`capture run\` captures this home for ${account.organizationName ?? 'the same organization'}, with a state folder of its own.`,
    'Two of them would send every record twice. Stop one, or give both the same CAPTURE_HOME.',
  );
}

/** Whether some daemon captures this home for the account, wherever it has its state. */
export const isHomeClaimed = ({ home }: Pick<Context, 'home'>, account: Account): boolean =>
  isLocked(...lockOf(home, account));

const lockOf = (home: string, { id }: Account): [folder: string, name: string] => [
  join(home, '.capture', 'homes'),
  hash('sha256', id).slice(0, 16),
];
