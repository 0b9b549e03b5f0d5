import { type Draft, draft } from '../compose.ts';
import type { Path, Remainder } from '../remainder.ts';
import { peek } from '../remainder.ts';
import { peekText, takeFirstText, takeText } from '../typed.ts';

/** What a message says itself: what is said in it stands in its parts. */
export function readMessage(remainder: Remainder, at: Path): Draft[] {
  const role = peekText(remainder, ...at, 'role');
  if (role === 'user') {
    const model = takeFirstText(remainder, [...at, 'model', 'modelID'], [...at, 'modelID']);
    return [model === undefined ? draft('record', { kind: 'user' }) : draft('session.meta', { model })];
  }
  if (role !== 'assistant') return [];
  return peek(remainder, ...at, 'error') === undefined
    ? [draft('record', { kind: 'assistant' })]
    : readError(remainder, at);
}

function readError(remainder: Remainder, at: Path): Draft[] {
  const name = takeText(remainder, ...at, 'error', 'name');
  if (name === 'MessageAbortedError') return [draft('turn.finished', { reason: name })];
  const text = takeFirstText(remainder, [...at, 'error', 'data', 'message'], [...at, 'error', 'message']);
  return [draft('error', { text, kind: name })];
}
