import { type Draft, draft } from '../compose.ts';
import type { Remainder } from '../remainder.ts';
import { peekText, takeFirstText, takeInteger, takeNumber, takeText } from '../typed.ts';

/** What the program did or told the person, by `subtype`; versions before 2.0 have none. */
export function readSystem(remainder: Remainder): Draft[] {
  const kind = peekText(remainder, 'subtype') ?? 'system';
  return [(KINDS.get(kind) ?? readNotice)(remainder, kind)];
}

const KINDS: ReadonlyMap<string, (remainder: Remainder, kind: string) => Draft> = new Map([
  ['compact_boundary', readCompaction],
  ['turn_duration', readTurnEnd],
  ['api_error', readError],
  ['api_refusal', readError],
  ['error', readError],
]);

/** The summary itself is in the user's record that follows. */
function readCompaction(remainder: Remainder): Draft {
  return draft('compaction', {
    trigger: takeText(remainder, 'compactMetadata', 'trigger'),
    tokensBefore: takeInteger(remainder, 'compactMetadata', 'preTokens'),
  });
}

function readTurnEnd(remainder: Remainder): Draft {
  return draft('turn.finished', { durationMs: takeNumber(remainder, 'durationMs') });
}

function readError(remainder: Remainder, kind: string): Draft {
  const text = takeFirstText(
    remainder,
    ['error', 'formatted'],
    ['error', 'message'],
    ['error', 'error', 'error', 'message'],
    ['error', 'error', 'message'],
    ['error'],
    ['content'],
  );
  return draft('error', { text, kind });
}

function readNotice(remainder: Remainder, kind: string): Draft {
  return draft('notice', { text: takeText(remainder, 'content'), kind, level: takeText(remainder, 'level') });
}

/** Versions 2.1.12 to 2.1.63 kept what tools and hooks showed while they ran. */
export function readProgress(remainder: Remainder): Draft[] {
  const kind = peekText(remainder, 'data', 'type') ?? 'progress';
  const text = takeFirstText(
    remainder,
    ['data', 'output'],
    ['data', 'taskDescription'],
    ['data', 'query'],
    ['data', 'command'],
    ['data', 'toolName'],
  );
  return [draft('notice', { text, kind })];
}
