import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { countImages, elementsAt, peekWords } from '../reader.ts';
import { type Path, peek, type Remainder } from '../remainder.ts';
import { peekText, takeText } from '../typed.ts';

const PARTS: Path = ['message', 'parts'];

export function readUser(remainder: Remainder, place: RecordPlace): Draft[] {
  const kind = injectedKind(remainder, place);
  const texts = elementsAt(remainder, ...PARTS)
    .map((at) => [...at, 'text'])
    .filter((at) => peekText(remainder, ...at) !== undefined);
  const images = countImages(remainder, ...PARTS);
  const drafts = kind === undefined ? readPrompt(remainder, texts, images) : readTexts(remainder, texts, kind);
  const hook = takeText(remainder, 'systemPayload', 'hookContext');
  if (hook !== undefined) drafts.push(draft('context.message', { text: hook, kind: 'hook_context' }));
  return drafts;
}

/** Why a user's record is no prompt; `undefined` if a person typed it. */
function injectedKind(remainder: Remainder, place: RecordPlace): string | undefined {
  if (place.origin.subagent !== undefined || peek(remainder, 'isSidechain') === true) return 'subagent-prompt';
  const provenance = peekWords(remainder, 'provenance');
  const subtype = peekWords(remainder, 'subtype');
  if (provenance !== undefined && provenance !== 'real_user') return subtype ?? provenance;
  // Typed while tools ran. All other kinds are of the program's making: ends of tasks, timers, goals.
  return subtype === 'mid_turn_user_message' || provenance === 'real_user' ? undefined : subtype;
}

const readTexts = (remainder: Remainder, texts: Path[], kind: string): Draft[] =>
  texts.map((at) => draft('context.message', { text: takeText(remainder, ...at), kind }));

/** What was typed is said apart where it is not what the model was sent; else it is the first part, before files. */
function readPrompt(remainder: Remainder, texts: Path[], images: number | undefined): Draft[] {
  const injected = texts.filter((at) => isReminder(peekText(remainder, ...at)));
  const others = texts.filter((at) => !injected.includes(at));
  const reminders = readTexts(remainder, injected, 'system-reminder');
  const typed: Path = ['systemPayload', 'displayText'];
  const shown = peekWords(remainder, ...typed);
  const [first, ...attached] = others;
  if (shown === undefined || (first !== undefined && peekText(remainder, ...first) === shown)) {
    // A record of nothing but reminders or images is still what the person sent.
    const text = first && takeText(remainder, ...first);
    const prompt = text === undefined && !images ? [] : [draft('user.message', { text, images })];
    return [...prompt, ...readTexts(remainder, attached, 'attached'), ...reminders];
  }
  const prompt = draft('user.message', { text: takeText(remainder, ...typed), images });
  return [prompt, ...readTexts(remainder, others, 'transformed-prompt'), ...reminders];
}

const isReminder = (text = ''): boolean => text.trimStart().startsWith('<system-reminder>');
