import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { countImages, elementsAt } from '../reader.ts';
import { type Path, peek, type Remainder } from '../remainder.ts';
import { peekText, takeText } from '../typed.ts';

export function readUser(remainder: Remainder, place: RecordPlace): Draft[] {
  const sent = textsAt(remainder, 'content');
  const images = countImages(remainder, 'content');
  if (place.origin.subagent !== undefined) return readTexts(remainder, sent, 'subagent-prompt');
  if (sent.length === 0 && images === undefined && hasToolAnswer(remainder)) {
    return [draft('record', { kind: 'duplicate:tool_result' })];
  }
  const isInjected = (at: Path) =>
    /^\s*<(session_context|system-reminder|hook_context)/.test(peekText(remainder, ...at) ?? '');
  const injected = sent.filter(isInjected);
  const [first, ...attached] = sent.filter((at) => !isInjected(at));
  // What was typed is said apart where commands or files were put in its place.
  const [shown] = textsAt(remainder, 'displayContent');
  const isSame = shown && first && peekText(remainder, ...shown) === peekText(remainder, ...first);
  const typed = isSame ? first : (shown ?? first);
  const text = typed && takeText(remainder, ...typed);
  const prompt = text === undefined && images === undefined ? [] : [draft('user.message', { text, images })];
  const expanded = typed === first || first === undefined ? [] : [first];
  return [
    ...prompt,
    ...readTexts(remainder, expanded, 'transformed-prompt'),
    ...readTexts(remainder, attached, 'attached'),
    ...readTexts(remainder, injected, 'session_context'),
  ];
}

const readTexts = (remainder: Remainder, texts: Path[], kind: string): Draft[] =>
  texts.map((at) => draft('context.message', { text: takeText(remainder, ...at), kind }));

const hasToolAnswer = (remainder: Remainder): boolean =>
  elementsAt(remainder, 'content').some((at) => peek(remainder, ...at, 'functionResponse') !== undefined);

/** The places of the texts in content, which is text, a part or a list of parts. */
export function textsAt(remainder: Remainder, ...content: Path): Path[] {
  const parts = elementsAt(remainder, ...content).flatMap((at) => [at, [...at, 'text']]);
  const places = [content, [...content, 'text'], ...parts];
  return places.filter((at) => peekText(remainder, ...at) !== undefined);
}
