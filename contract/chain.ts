import { hash } from 'node:crypto';
import { type SaltKeys, saltsOf } from './salts.ts';

/*
 * The events of a session form a chain. The head after an event commits to all events up to it, to their order, and to the
 * session. The machine that sends the events and the service that receives them each compute it.
 */

/**
 * The digest of the content of an event in its sent form: SHA-256 over its type, a NUL and the text of its payload; 32 bytes in
 * hexadecimal. It is stored at most beside the text itself, and never shown, because anybody could guess a short text and compare.
 */
export const contentDigest = (eventType: string, payloadText: string): string =>
  hash('sha256', `${eventType}\0${payloadText}`);

/**
 * The digest of an event, which reveals nothing to a person who does not have its salt.
 * @param content its `contentDigest`
 */
export const eventDigest = (salt: string, content: string): string => hash('sha256', `${salt}\0${content}`);

/** The digest of the list of masked events, so that a signature covers the list. */
export const digestOfMasked = (masked: Iterable<readonly [sequence: number, digest: string]>): string =>
  hash('sha256', [...masked].map(([sequence, digest]) => `${sequence}\0${digest}\n`).join(''));

/** The state of a chain after its last event. */
export interface ChainHead {
  /** The sequence of its last event; 0 for a chain without events. */
  sequence: number;
  /** 32 bytes in hexadecimal. */
  hash: string;
}

/**
 * The head before the first event. It distinguishes sessions and reveals nothing about them.
 * @param key the session's client key, or its id if it has none
 */
export const chainStart = (agentId: string, key: string): ChainHead => ({
  sequence: 0,
  hash: hash('sha256', `session\0${agentId}\0${key}`),
});

/**
 * The head after one more event.
 * @param digest the `eventDigest` of that event
 */
export function follow({ sequence, hash: previous }: ChainHead, digest: string): ChainHead {
  const next = sequence + 1;
  return { sequence: next, hash: hash('sha256', `${previous}\0${next}\0${digest}`) };
}

/** An event in the form in which it is checked against a chain. */
export interface CheckedEvent {
  sequence: number;
  eventType: string;
  /** The exact text. */
  payload: string;
}

/** The events that a chain requires: all between both heads, without a gap. */
export interface Chain {
  start: string;
  head: ChainHead;
  /** Digests of events that were masked after they were stored, in their accepted form, by sequence. */
  masked: ReadonlyMap<number, string>;
  /** The keys of the salts of all other events. */
  saltKeys: SaltKeys;
}

/**
 * Checks events against a chain.
 * @returns undefined if they match, or a sentence that says what does not match
 */
export function checkChain(
  { start, head, masked, saltKeys }: Chain,
  events: Iterable<CheckedEvent>,
): string | undefined {
  const saltOf = saltsOf(saltKeys);
  let now: ChainHead = { sequence: 0, hash: start };
  for (const { sequence, eventType, payload } of events) {
    if (sequence !== now.sequence + 1)
      return `Event ${now.sequence + 1} is missing: event ${sequence} is in its place.`;
    const digest = masked.get(sequence) ?? digestWith(saltOf(sequence), eventType, payload);
    if (digest === undefined) return `The salt of event ${sequence} is missing.`;
    now = follow(now, digest);
  }
  if (now.sequence !== head.sequence) return `There are ${now.sequence} events, and the chain has ${head.sequence}.`;
  if (now.hash !== head.hash) return 'An event is not as it was sent, or belongs to another session.';
  return undefined;
}

const digestWith = (salt: string | undefined, eventType: string, payload: string): string | undefined =>
  salt === undefined ? undefined : eventDigest(salt, contentDigest(eventType, payload));
