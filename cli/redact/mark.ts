import { createHmac, createSecretKey } from 'node:crypto';

const MARK = /\[REDACTED:[a-z0-9-]{2,40}:[0-9a-f]{4}\]/g;
const MARK_START = '[REDACTED:';

/** What may stand beside a mark without being a secret itself: an authentication scheme, blanks, punctuation. */
const BESIDE_MARKS = /^(?:bearer|basic|token|digest|bot|ssws|apikey|[\s"'`,;:=\\])*$/i;

/** A piece of a text that must not leave the machine. */
export interface Span {
  start: number;
  end: number;
  rule: string;
  /** What the mark is made from: the plain secret, however it is encoded in the text. */
  secret: string;
}

export type Marker = (rule: string, secret: string) => string;

/**
 * Marks end in four hex digits of a keyed hash, so that a reader sees which marks of a session stand for the same secret,
 * and nobody without the machine's key can test a guess. Each session has a key of its own: else whoever gets a list of
 * guesses into another session of the machine could compare their marks with those of this one.
 */
export function createMarker(key: Uint8Array, session: string): Marker {
  // Made once: from bytes each mark would take four times as long.
  const keyObject = createSecretKey(createHmac('sha256', key).update(session).digest());
  return (rule, secret) => {
    const hash = createHmac('sha256', keyObject).update(secret).digest('hex');
    return `${MARK_START}${rule}:${hash.slice(0, 4)}]`;
  };
}

export function hasMark(text: string): boolean {
  return text.includes(MARK_START);
}

export function findMarks(text: string): { start: number; end: number }[] {
  if (!hasMark(text)) return [];
  return Array.from(text.matchAll(MARK), (match) => ({ start: match.index, end: match.index + match[0].length }));
}

/** Whether nothing but marks is left of a value. */
export function isMasked(text: string): boolean {
  return hasMark(text) && BESIDE_MARKS.test(text.replace(MARK, ''));
}
