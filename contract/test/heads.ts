import { type ChainHead, contentDigest, eventDigest, follow } from '../chain.ts';
import { type SaltKeys, saltsOf } from '../salts.ts';

/** The head after more events, as their sender computes it. */
export function headAfter(
  start: ChainHead,
  events: Iterable<{ eventType: string; payload: string }>,
  saltKeys: SaltKeys,
): ChainHead {
  const saltOf = saltsOf(saltKeys);
  let head = start;
  for (const { eventType, payload } of events) {
    head = follow(head, eventDigest(saltOf(head.sequence + 1) ?? '', contentDigest(eventType, payload)));
  }
  return head;
}

export const notices = (texts: Iterable<string>) => [...texts].map((payload) => ({ eventType: 'notice', payload }));
