import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { elementsAt } from '../reader.ts';
import { type Path, type Remainder, take } from '../remainder.ts';
import { peekText, takeFirstText, takeText } from '../typed.ts';

const CONTENT = ['message', 'content'];

/** A line of a transcript: what was said, and which tools were asked for. It has no ids, no times and no results. */
export function readLine(remainder: Remainder, place: RecordPlace): Draft[] {
  const role = peekText(remainder, 'role');
  if (role === undefined && peekText(remainder, 'type') === 'turn_ended') {
    return [draft('turn.finished', { reason: takeText(remainder, 'status') })];
  }
  if (role !== 'user' && role !== 'assistant') return [];
  const model = peekText(remainder, 'model');
  const parts = peekText(remainder, ...CONTENT) === undefined ? elementsAt(remainder, ...CONTENT) : [CONTENT];
  const drafts = parts.flatMap((at) => readPart(remainder, at, { role, model, place }));
  if (drafts.some(({ fields }) => 'model' in fields)) take(remainder, 'model');
  return drafts;
}

interface About {
  role: 'user' | 'assistant';
  model: string | undefined;
  place: RecordPlace;
}

function readPart(remainder: Remainder, at: Path, { role, model, place }: About): Draft[] {
  const type = peekText(remainder, ...at, 'type') ?? 'text';
  if (/^tool[-_](use|call)$/.test(type)) return readCall(remainder, at, model, place);
  if (/^tool[-_]result$/.test(type)) {
    const callId = takeFirstText(remainder, [...at, 'tool_use_id'], [...at, 'id']);
    return [draft('tool.result', { callId, output: take(remainder, ...at, 'content') })];
  }
  if (type === 'thinking' || type === 'reasoning') {
    return [
      draft('assistant.reasoning', {
        text: takeFirstText(remainder, [...at, 'thinking'], [...at, 'text']) ?? '',
        model,
      }),
    ];
  }
  const typed = role === 'user' ? peekTyped(remainder, at) : undefined;
  if (typed !== undefined) return [draft('user.message', { text: typed })];
  const text = takeFirstText(remainder, at, [...at, 'text']);
  if (text === undefined) return [];
  if (role === 'assistant') return [draft('assistant.message', { text, model })];
  if (place.origin.subagent !== undefined) return [draft('context.message', { text, kind: 'subagent-prompt' })];
  const isInjected = text.trimStart().startsWith('<') && !text.includes('<user_query>');
  return [isInjected ? draft('context.message', { text, kind: 'attached' }) : draft('user.message', { text })];
}

/** What a person typed, out of what Cursor put around it. The whole stays in `rest`. */
function peekTyped(remainder: Remainder, at: Path): string | undefined {
  const text = peekText(remainder, ...at) ?? peekText(remainder, ...at, 'text') ?? '';
  return /^\s*<user_query>\s*([\s\S]*?)\s*<\/user_query>\s*$/.exec(text)?.[1];
}

function readCall(remainder: Remainder, at: Path, model: string | undefined, { origin }: RecordPlace): Draft[] {
  // The hooks have told it, with what it answered.
  if (origin.hooked === true) return [draft('record', { kind: 'duplicate:tool_use' })];
  const name = takeText(remainder, ...at, 'name') ?? 'tool';
  const callId = takeText(remainder, ...at, 'id');
  return [draft('tool.call', { callId, name, input: take(remainder, ...at, 'input'), model })];
}
