import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder } from '../remainder.ts';
import { lengthAt, peekText, takeText } from '../typed.ts';
import { injectedKind } from './injected.ts';
import { readToolResult } from './tool-result.ts';

const CONTENT: Path = ['message', 'content'];

export function readUser(remainder: Remainder, place: RecordPlace): Draft[] {
  if (peekText(remainder, ...CONTENT) !== undefined) return [readText(remainder, place, CONTENT)];
  const drafts: Draft[] = [];
  const blocks = lengthAt(remainder, ...CONTENT);
  const results = count(remainder, 'tool_result');
  for (let index = 0; index < blocks; index++) {
    const at = [...CONTENT, index];
    const type = peekText(remainder, ...at, 'type');
    if (type === 'tool_result') drafts.push(...readToolResult(remainder, at, results === 1));
    else if (peekText(remainder, ...at, 'text') !== undefined) drafts.push(readText(remainder, place, [...at, 'text']));
    else if (peekText(remainder, ...at) !== undefined) drafts.push(readText(remainder, place, at));
  }
  return countImages(drafts, count(remainder, 'image'));
}

function readText(remainder: Remainder, place: RecordPlace, at: Path): Draft {
  const kind = injectedKind(remainder, place, peekText(remainder, ...at) ?? '');
  const text = takeText(remainder, ...at);
  if (text?.startsWith('[Request interrupted by user')) return draft('turn.finished', { reason: text });
  if (kind !== undefined) return draft('context.message', { text, kind });
  return draft('user.message', { text });
}

function count(remainder: Remainder, type: string): number {
  const content = peek(remainder, ...CONTENT);
  return Array.isArray(content) ? content.filter((block) => block?.type === type).length : 0;
}

/** The images stay in `rest`; the prompt they were pasted into says how many there are. */
function countImages(drafts: Draft[], images: number): Draft[] {
  if (images === 0) return drafts;
  const prompt = drafts.find(({ eventType }) => eventType === 'user.message');
  if (prompt === undefined) return drafts.length > 0 ? drafts : [draft('user.message', { images })];
  prompt.fields = { ...prompt.fields, images };
  return drafts;
}
