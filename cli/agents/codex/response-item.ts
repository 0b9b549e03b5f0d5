import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { lengthAt, peekText, takeText } from '../typed.ts';
import { readMessage } from './message.ts';

/** Types that stood in a line of their own before there was an envelope. */
export const isResponseItem = (type: string): boolean => READERS.has(type);

/** What the model was sent or sent. */
export function readResponseItem(remainder: Remainder, at: Path): Draft[] {
  const type = peekText(remainder, ...at, 'type') ?? 'message';
  const read = READERS.get(type);
  if (read !== undefined) return read(remainder, at, type);
  return /_(call|output)$/.test(type) ? READ_OTHER_TOOL(remainder, at, type) : [];
}

type Reader = (remainder: Remainder, at: Path, type: string) => Draft[];

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['message', readMessage],
  ['reasoning', readReasoning],
  ['agent_message', readAgentMessage],
  ['function_call', readCall],
  ['function_call_output', readOutput],
  ['custom_tool_call', readCall],
  ['custom_tool_call_output', readOutput],
  ['local_shell_call', readCall],
  ['local_shell_call_output', readOutput],
  ['web_search_call', readCall],
  ['tool_search_call', readCall],
  ['tool_search_output', readOutput],
  ['image_generation_call', readCall],
  ['additional_tools', () => [draft('context.message', { kind: 'additional_tools' })]],
]);

const READ_OTHER_TOOL: Reader = (remainder, at, type) =>
  type.endsWith('_call') ? readCall(remainder, at, type) : readOutput(remainder, at);

/** Tools of the vendor's have no name but the item's type, and their input under other names. */
function readCall(remainder: Remainder, at: Path, type: string): Draft[] {
  const callId = takeText(remainder, ...at, 'call_id') ?? peekText(remainder, ...at, 'id');
  const name = takeText(remainder, ...at, 'name') ?? type.replace(/_call$/, '');
  const inputAt = ['arguments', 'input', 'action'].find((key) => peek(remainder, ...at, key) !== undefined);
  const input = inputAt === undefined ? undefined : take(remainder, ...at, inputAt);
  return [draft('tool.call', { callId, name, input })];
}

function readOutput(remainder: Remainder, at: Path): Draft[] {
  const callId = takeText(remainder, ...at, 'call_id');
  const key = peek(remainder, ...at, 'output') === undefined ? 'tools' : 'output';
  return [draft('tool.result', { callId, output: take(remainder, ...at, key) })];
}

/** One event for each part that can be read; most thoughts are there encrypted only, and left in `rest`. */
function readReasoning(remainder: Remainder, at: Path): Draft[] {
  const messageId = peekText(remainder, ...at, 'id');
  const texts = ['summary', 'content'].flatMap((list) => takeTexts(remainder, [...at, list]));
  return (texts.length > 0 ? texts : ['']).map((text) => draft('assistant.reasoning', { text, messageId }));
}

/** Between agents: put before the model like other context. */
function readAgentMessage(remainder: Remainder, at: Path): Draft[] {
  const texts = takeTexts(remainder, [...at, 'content']);
  return texts.map((text) => draft('context.message', { text, kind: 'agent_message' }));
}

function takeTexts(remainder: Remainder, list: Path): string[] {
  const parts = Array.from({ length: lengthAt(remainder, ...list) }, (_, index) =>
    takeText(remainder, ...list, index, 'text'),
  );
  return parts.filter((text) => text !== undefined);
}
