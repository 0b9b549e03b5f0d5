import { type Draft, draft } from '../compose.ts';
import { countImages, elementsAt, type Reader } from '../reader.ts';
import { type Path, type Remainder, take } from '../remainder.ts';
import { peekText, takeFlag, takeText } from '../typed.ts';
import { readAssistant } from './assistant.ts';

const CONTENT: Path = ['message', 'content'];

export function readMessage(...given: Parameters<Reader>): Draft[] {
  const role = peekText(given[0], 'message', 'role') ?? '';
  return ROLES.get(role)?.(...given) ?? [];
}

const ROLES: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['user', readUser],
  ['assistant', readAssistant],
  ['toolResult', readToolResult],
  ['bashExecution', readShell],
  ['custom', (remainder) => readInjected(remainder, ['message'])],
  ['hookMessage', (remainder) => readInjected(remainder, ['message'])],
]);

function readUser(remainder: Remainder): Draft[] {
  const images = countImages(remainder, ...CONTENT);
  const [first, ...others] = takeTexts(remainder, CONTENT);
  if (first === undefined && images === undefined) return [];
  const texts = others.map((text) => draft('user.message', { text }));
  return [draft('user.message', { text: first, images }), ...texts];
}

function readToolResult(remainder: Remainder): Draft[] {
  return [
    draft('tool.result', {
      callId: takeText(remainder, 'message', 'toolCallId'),
      name: takeText(remainder, 'message', 'toolName'),
      output: take(remainder, ...CONTENT),
      isError: takeFlag(remainder, 'message', 'isError'),
      detail: take(remainder, 'message', 'details'),
    }),
  ];
}

/** A command that the person ran, without the model. Its exit code is left in `rest`: the model called no tool. */
function readShell(remainder: Remainder): Draft[] {
  const command = takeText(remainder, 'message', 'command');
  const output = takeText(remainder, 'message', 'output');
  const drafts = [draft('context.message', { text: command, kind: 'shell-command' })];
  if (output !== undefined) drafts.push(draft('context.message', { text: output, kind: 'shell-output' }));
  return drafts;
}

/** What an extension put before the model. */
export function readInjected(remainder: Remainder, at: Path): Draft[] {
  const kind = peekText(remainder, ...at, 'customType') ?? 'custom';
  const texts = takeTexts(remainder, [...at, 'content']);
  return (texts.length > 0 ? texts : [undefined]).map((text) => draft('context.message', { text, kind }));
}

/** The texts of content, which is text or a list of blocks. */
function takeTexts(remainder: Remainder, content: Path): string[] {
  const parts = [content, ...elementsAt(remainder, ...content).map((at) => [...at, 'text'])];
  return parts.map((at) => takeText(remainder, ...at)).filter((text) => text !== undefined);
}
