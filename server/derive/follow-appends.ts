import { type ChainHead, contentDigest, eventDigest, follow } from '../../contract/chain.ts';
import { type SaltKeys, saltsOf } from '../../contract/salts.ts';
import { decodeFrame } from '../log/frame.ts';
import type { StoredAppend } from '../store/events.ts';

/** Stored events that follow a head. */
export interface ChainJob {
  sessionId: string;
  head: ChainHead;
  /** The session's last event. Later ones in these appends do not count. */
  through: number;
  appends: Pick<StoredAppend, 'first_sequence' | 'codec' | 'body'>[];
  saltKeys: SaltKeys;
  /** Digests of masked events in their accepted form, by sequence. */
  masked: ReadonlyMap<number, string>;
}

/**
 * The head after the events of these appends.
 * @throws Damaged; an error if an event or its salt is missing
 */
export function followAppends({ sessionId, head, through, appends, saltKeys, masked }: ChainJob): ChainHead {
  const saltOf = saltsOf(saltKeys);
  let now = head;
  for (const append of appends) {
    for (const [index, { eventType, payload }] of decodeFrame(append).entries()) {
      const sequence = append.first_sequence + index;
      const next = now.sequence + 1;
      if (sequence < next || sequence > through) continue;
      if (sequence > next) throw new Error(`event ${next} of ${sessionId} is missing in the store`);
      const digest = masked.get(sequence) ?? digestWith(saltOf(sequence), eventType, payload);
      if (digest === undefined) throw new Error(`event ${sequence} of ${sessionId} has no salt in the store`);
      now = follow(now, digest);
    }
  }
  return now;
}

function digestWith(salt: string | undefined, eventType: string, payload: Uint8Array): string | undefined {
  if (salt === undefined) return undefined;
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8');
  return eventDigest(salt, contentDigest(eventType, text));
}
