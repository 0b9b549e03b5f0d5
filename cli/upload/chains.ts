import type { BulkResult } from '../../contract/capture.ts';
import { contentDigest, eventDigest, follow } from '../../contract/chain.ts';
import { saltKeysOf, saltsOf } from '../../contract/salts.ts';
import { countMarks } from '../../redact/mark.ts';
import { parseExact } from '../exact.ts';
import type { Spool } from '../spool/open.ts';
import { readEvents } from './refusals.ts';
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
  for (const text of readEvents(append)) {
    const { eventType, payload } = parseExact(text) as { eventType: string; payload: unknown };
    const said = JSON.stringify(payload);
    head = follow(head, eventDigest(saltOf(head.sequence + 1) as string, contentDigest(eventType, said)));
    countMarks(said, masked);
  }
  chains.write(append.sessionId, { ...chain, head, masked });
}
