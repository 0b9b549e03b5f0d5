/** The OpenAI Responses wire format, streaming, as Codex reads it. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './model-anthropic.ts';
import type { Call, Step } from './scenario.ts';
import type { Usage } from './tokens.ts';

type Content = { text?: string; encrypted_content?: string };
type InputItem = { type?: string; role?: string; content?: string | Content[] };
export type OpenaiRequest = { model: string; input: InputItem[] | string };
type Item = { type: string; id: string } & Record<string, unknown>;
type Send = Answer['send'];

const id = (prefix: string): string => prefix + randomBytes(20).toString('hex');

/** All texts for the model. A sub-agent is recognized by its task among messages from its user or its parent. */
export function readOpenaiPrompts({ input }: OpenaiRequest): string[] {
  if (typeof input === 'string') return [input];
  return input
    .filter(({ type, role }) => (type === 'message' && role === 'user') || type === 'agent_message')
    .flatMap(({ content }) => (typeof content === 'string' ? [content] : (content ?? []).map(readContent)));
}

/** The vendor encrypts messages between agents; here they stay plain text. */
const readContent = ({ text, encrypted_content }: Content): string => text ?? encrypted_content ?? '';

export async function answerOpenai({ model, step, usage, send, pause }: Answer): Promise<void> {
  const response = { id: id('resp_'), object: 'response', created_at: Math.floor(Date.now() / 1000), model };
  send('response.created', { response: { ...response, status: 'in_progress', output: [] } });
  const items = itemsOf(step);
  for (const [index, item] of items.entries()) {
    send('response.output_item.added', { output_index: index, item: opened(item) });
    await streamText(item, index, send, pause / items.length);
    send('response.output_item.done', { output_index: index, item });
  }
  send('response.completed', {
    response: { ...response, status: 'completed', output: items, usage: usageOf(usage) },
  });
}

function itemsOf({ think, say, calls = [] }: Step): Item[] {
  const items: Item[] = [];
  if (think) {
    items.push({
      type: 'reasoning',
      id: id('rs_'),
      summary: [{ type: 'summary_text', text: think }],
      // The real field contains the reasoning, encrypted by the vendor; nothing decrypts this one.
      encrypted_content: randomBytes(120).toString('base64'),
    });
  }
  if (say) {
    items.push({
      type: 'message',
      id: id('msg_'),
      role: 'assistant',
      status: 'completed',
      phase: calls.length ? 'commentary' : 'final_answer',
      content: [{ type: 'output_text', text: say, annotations: [] }],
    });
  }
  return [...items, ...calls.map(callItem)];
}

function callItem({ tool, input, namespace }: Call): Item {
  const common = { call_id: `call_${randomBytes(12).toString('hex')}`, name: tool, status: 'completed' };
  const where = namespace ? { namespace } : {};
  return typeof input === 'string'
    ? { type: 'custom_tool_call', id: id('ctc_'), ...common, ...where, input }
    : { type: 'function_call', id: id('fc_'), ...common, ...where, arguments: JSON.stringify(input) };
}

/** An item as it is announced, still without content. */
function opened(item: Item): Item {
  const empty = { message: { content: [] }, reasoning: { summary: [] }, custom_tool_call: { input: '' } };
  return { ...item, status: 'in_progress', ...(empty[item.type as keyof typeof empty] ?? { arguments: '' }) };
}

async function streamText(item: Item, index: number, send: Send, pause: number): Promise<void> {
  const at = { item_id: item.id, output_index: index };
  if (item.type === 'message' || item.type === 'reasoning') {
    const [part] = (item.type === 'message' ? item.content : item.summary) as { type: string; text: string }[];
    if (!part) return;
    const name = item.type === 'message' ? 'response.output_text' : 'response.reasoning_summary_text';
    const container = item.type === 'message' ? 'response.content_part' : 'response.reasoning_summary_part';
    const place = { ...at, [item.type === 'message' ? 'content_index' : 'summary_index']: 0 };
    send(`${container}.added`, { ...place, part: { ...part, text: '' } });
    const deltas = part.text.match(/(\S+\s*){1,6}|\s+/g) ?? [part.text];
    for (const delta of deltas) {
      await sleep(pause / deltas.length);
      send(`${name}.delta`, { ...place, delta });
    }
    send(`${name}.done`, { ...place, text: part.text });
    send(`${container}.done`, { ...place, part });
    return;
  }
  await sleep(pause);
  const name =
    item.type === 'custom_tool_call' ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  send(`${name}.delta`, { ...at, delta: item.input ?? item.arguments });
  send(`${name}.done`, item.input === undefined ? { ...at, arguments: item.arguments } : { ...at, input: item.input });
}

function usageOf({ context, cached, output, reasoning }: Usage): object {
  return {
    input_tokens: context,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: context + output,
  };
}
