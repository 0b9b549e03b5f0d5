import { unwrapProgress } from '../../transcript/entry/progress.ts';
import { asObject, asParsedObject, type Loose } from '../../transcript/entry/value.ts';
import { isPart } from '../../transcript/parts.ts';

type Read = (payload: Loose) => readonly unknown[];

/** The searchable fields of each event type: messages and actions, without ids and figures. */
const SEARCHED: Readonly<Record<string, Read>> = {
  'session.meta': ({ title, cwd, repository, branch }) => [title, cwd, repository, branch],
  'user.message': ({ text }) => [text],
  'context.message': ({ text }) => [text],
  'assistant.message': ({ text }) => [text],
  'assistant.reasoning': ({ text }) => [text],
  'tool.call': ({ name, input }) => [name, isEmpty(asParsedObject(input)) ? input : asParsedObject(input)],
  // `detail` is the agent's own copy of the output.
  'tool.result': ({ output, detail }) => [isEmpty(output) ? detail : output],
  usage: () => [],
  compaction: ({ summary }) => [summary],
  'subagent.started': ({ agentType, description, prompt }) => [agentType, description, prompt],
  'subagent.finished': ({ result }) => [result],
  'turn.finished': ({ reason }) => [reason],
  notice: ({ text, rest }) => [text ?? rest],
  error: ({ text, rest }) => [text ?? rest],
  record: ({ rest }) => [rest],
  unreadable: ({ raw, encoding }) => [encoding === 'base64' ? undefined : raw],
};

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** An event of an unknown type is searchable, except for the fields that every captured event has. */
const readForeign: Read = ({ source: _, occurredAt: __, redactions: ___, ...others }) => [others];

/** The searchable texts of an event, in the order of its payload. */
export function textsOf(eventType: string, payload: unknown): string[] {
  // A part of an incomplete payload.
  if (isPart(payload)) return stringsIn([payload.json]);
  // Each progress notice of a sub-agent repeats its whole prompt.
  const event = unwrapProgress(eventType, asObject(payload));
  const read = Object.hasOwn(SEARCHED, event.eventType) ? SEARCHED[event.eventType] : undefined;
  return stringsIn((read ?? readForeign)(event.payload));
}

/** All strings of a value at any depth, in order. */
function stringsIn(value: unknown): string[] {
  const found: string[] = [];
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') {
      if (!DATA.test(next)) found.push(withoutColours(next).normalize('NFC'));
    } else if (typeof next === 'object' && next !== null) {
      const children: unknown[] = Array.isArray(next) ? next : Object.values(next);
      for (let n = children.length - 1; n >= 0; n--) waiting.push(children[n]);
    }
  }
  return found;
}

/** An image or another file, as text. */
const DATA = /^(?:data:[^,]{0,100};base64,|[A-Za-z0-9+/]{512})/;

/** Removes control sequences of terminals, which may split words. */
const withoutColours = (text: string) => (text.includes('\u001b') ? text.replace(COLOURS, '') : text);
// biome-ignore lint/suspicious/noControlCharactersInRegex: every such sequence begins with it
const COLOURS = /\u001b\[[0-9;?]*[A-Za-z]/g;
