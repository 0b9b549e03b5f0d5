/** The OpenAI Responses wire format, streaming, as Codex reads it. */
import type { Usage } from './tokens.ts';
import { type Call, id, type NamedAnswer, type Step, words } from './wire.ts';

type Content = { text?: string; encrypted_content?: string };
type InputItem = { type?: string; role?: string; content?: string | Content[] };
export type OpenaiRequest = { model: string; input: InputItem[] | string };
type Item = { type: string; id: string } & Record<string, unknown>;

/** All texts for the model, from its user or from the agent that started it. */
export function readOpenaiPrompts({ input }: OpenaiRequest): string[] {
  if (typeof input === 'string') return [input];
  return input
    .filter(({ type, role }) => (type === 'message' && role === 'user') || type === 'agent_message')
    .flatMap(({ content }) => (typeof content === 'string' ? [content] : (content ?? []).map(readContent)));
}

/** The vendor encrypts messages between agents; here they stay plain text. */
const readContent = ({ text, encrypted_content }: Content): string => text ?? encrypted_content ?? '';

export function answerOpenai({ model, step, usage, send }: NamedAnswer): void {
  const response = { id: id('resp_'), object: 'response', created_at: Math.floor(Date.now() / 1000), model };
  send('response.created', { response: { ...response, status: 'in_progress', output: [] } });
  const items = itemsOf(step);
  for (const [index, item] of items.entries()) {
    send('response.output_item.added', { output_index: index, item: opened(item) });
    streamContent(item, index, send);
    send('response.output_item.done', { output_index: index, item });
  }
  send('response.completed', {
    response: { ...response, status: 'completed', output: items, usage: usageOf(usage) },
  });
}

const itemsOf = ({ say, calls = [] }: Step): Item[] => [
  {
    type: 'message',
    id: id('msg_'),
    role: 'assistant',
    status: 'completed',
    phase: calls.length ? 'commentary' : 'final_answer',
    content: [{ type: 'output_text', text: say, annotations: [] }],
  },
  ...calls.map(callItem),
];

const callItem = ({ tool, input }: Call): Item => ({
  type: 'function_call',
  id: id('fc_'),
  call_id: id('call_'),
  name: tool,
  status: 'completed',
  arguments: JSON.stringify(input),
});

/** An item as it is announced, still without content. */
const opened = (item: Item): Item => ({
  ...item,
  status: 'in_progress',
  ...(item.type === 'message' ? { content: [] } : { arguments: '' }),
});

function streamContent(item: Item, index: number, send: NamedAnswer['send']): void {
  const at = { item_id: item.id, output_index: index };
  if (item.type === 'function_call') {
    send('response.function_call_arguments.delta', { ...at, delta: item.arguments });
    send('response.function_call_arguments.done', { ...at, arguments: item.arguments });
    return;
  }
  const [part] = item.content as { type: string; text: string }[];
  if (!part) return;
  const place = { ...at, content_index: 0 };
  send('response.content_part.added', { ...place, part: { ...part, text: '' } });
  for (const delta of words(part.text)) send('response.output_text.delta', { ...place, delta });
  send('response.output_text.done', { ...place, text: part.text });
  send('response.content_part.done', { ...place, part });
}

function usageOf({ context, cached, output }: Usage): object {
  return {
    input_tokens: context,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: context + output,
  };
}
