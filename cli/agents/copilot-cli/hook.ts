import { type Draft, draft } from '../compose.ts';
import { peek, type Remainder } from '../remainder.ts';
import { takeFirstText, takeText } from '../typed.ts';

/** Most hooks only listen, this program's own among them. What others put before the model or complain of is shown. */
export function readHookEnd(remainder: Remainder): Draft[] {
  const text = takeText(remainder, 'data', 'output', 'additionalContext');
  if (text !== undefined) return [draft('context.message', { text, kind: 'hook_additional_context' })];
  const error = takeFirstText(remainder, ['data', 'error', 'message'], ['data', 'error']);
  if (error !== undefined || peek(remainder, 'data', 'success') === false) {
    return [draft('notice', { text: error, kind: 'hook_error' })];
  }
  return [draft('record', { kind: 'hook.end' })];
}
