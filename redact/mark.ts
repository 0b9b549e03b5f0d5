import { createHmac, createSecretKey } from 'node:crypto';

const MARK = /\[REDACTED:([a-z0-9-]{2,40}):[0-9a-f]{4}\]/g;
const MARK_START = '[REDACTED:';

/** Text beside a mark that is not a secret itself: an authentication scheme, blanks, punctuation. */
const BESIDE_MARKS = /^(?:bearer|basic|token|digest|bot|ssws|apikey|[\s"'`,;:=\\])*$/i;

/** A piece of a text that must not leave the machine. */
export interface Span {
  start: number;
  end: number;
  rule: string;
  /** The plain secret, however it is encoded in the text. The mark is made from it. */
  secret: string;
}

export type Marker = (rule: string, secret: string) => string;

/**
 * Marks end in four hex digits of a keyed hash. So a reader sees which marks of a session mean the same secret, and nobody
 * without the machine's key can test a guess. Each session has its own key. With a shared key, anybody who gets a list of
 * guesses into another session could compare their marks with those of this session.
 */
export function createMarker(key: Uint8Array, session: string): Marker {
  // The key object is created once. From bytes, each mark would take four times as long.
  const keyObject = createSecretKey(createHmac('sha256', key).update(session).digest());
  return (rule, secret) => {
    const hash = createHmac('sha256', keyObject).update(secret).digest('hex');
    return `${MARK_START}${rule}:${hash.slice(0, 4)}]`;
  };
}

export function hasMark(text: string): boolean {
  return text.includes(MARK_START);
}

const STANDS_FOR_MARK = [...'QJWXZKVHYBCDFGLMNPST'].map((letter) => `[${letter}EDACTED:`);

/**
 * Changes a text so that only our own marks read as marks: an imitation must not protect the text beside it. The copy is as
 * long as the text. `show` undoes the change, for the copy and for any piece of it.
 */
export function hideForeignMarks(text: string, isOwn: (mark: string) => boolean) {
  if (!hasMark(text)) return { hidden: text, show: asItIs };
  const sign = STANDS_FOR_MARK.find((each) => !text.includes(each));
  if (sign === undefined) throw new Error('the text has all signs for foreign marks');
  const own = new Set(findMarks(text).flatMap(({ start, end }) => (isOwn(text.slice(start, end)) ? start : [])));
  const hidden = text.replaceAll(MARK_START, (start, index: number) => (own.has(index) ? start : sign));
  return { hidden, show: (piece: string) => piece.replaceAll(sign, MARK_START) };
}

const asItIs = (text: string) => text;

export function findMarks(text: string): { start: number; end: number }[] {
  if (!hasMark(text)) return [];
  return Array.from(text.matchAll(MARK), (match) => ({ start: match.index, end: match.index + match[0].length }));
}

/** Adds the marks of a text to the counts by rule. */
export function countMarks(text: string, counts: Record<string, number>): void {
  if (!hasMark(text)) return;
  for (const [, rule = ''] of text.matchAll(MARK)) counts[rule] = (counts[rule] ?? 0) + 1;
}

/** Whether only our own marks are left of a value. */
export function isMasked(text: string, isOwn: (mark: string) => boolean): boolean {
  if (!hasMark(text)) return false;
  const rest = text.replace(MARK, (mark) => (isOwn(mark) ? '' : mark));
  return rest !== text && BESIDE_MARKS.test(rest);
}
