import { type Draft, draft } from '../compose.ts';
import { peek, type Remainder } from '../remainder.ts';
import { takeText } from '../typed.ts';

/** Mostly only the time of the last change. */
export function readChange(remainder: Remainder): Draft[] {
  if (peek(remainder, '$set', 'messages') !== undefined) return [draft('context.message', { kind: 'checkpoint' })];
  const title = takeText(remainder, '$set', 'summary');
  if (title !== undefined) return [draft('session.meta', { title, titleBy: 'agent' })];
  return [draft('record', { kind: '$set' })];
}
