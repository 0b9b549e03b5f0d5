import type { BulkResult } from '../../contract/capture.ts';
import { eventDigest, follow } from '../../contract/chain.ts';
import { saltKeysOf, saltsOf } from '../../contract/salts.ts';
import { eachDigest } from '../spool/event-digests.ts';
import type { Spool } from '../spool/open.ts';
import type { Append } from './service.ts';

/**
 * Adds the events that the service has accepted to the chain of their session. A repeated answer, for instance after a crash,
 * adds nothing. Events from other machines end the chain.
 */
export function followSent({ chains }: Spool, append: Append, result: BulkResult): void {
  const { accepted, lastSequence } = result;
  const chain = accepted === undefined ? undefined : chains.find(append.sessionId);
  if (chain === undefined) return;
  if (lastSequence !== undefined && lastSequence <= chain.head.sequence) return;
  if (lastSequence !== chain.head.sequence + append.events) {
    chains.remove(append.sessionId);
    return;
  }
  const masked = { ...chain.masked };
  const saltOf = saltsOf(saltKeysOf(chain.chainKey));
  let { head } = chain;
  for (const content of eachDigest(append)) {
    head = follow(head, eventDigest(saltOf(head.sequence + 1) as string, content));
  }
  for (const [rule, times] of Object.entries(append.marks)) masked[rule] = (masked[rule] ?? 0) + times;
  chains.write(append.sessionId, { ...chain, head, masked });
}
