/** The Anthropic Messages wire format, streaming, as Claude Code reads it. */
import { id, type NamedAnswer, type Step, words } from './wire.ts';

type Block = { type: string; text?: string };
export type AnthropicRequest = { model: string; messages: { role: string; content: string | Block[] }[] };

/** The texts of people, without those of tools. */
export function readAnthropicPrompts({ messages }: AnthropicRequest): string[] {
  return messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content))
    .flatMap(({ type, text }) => (type === 'text' && text ? [text] : []));
}

export function answerAnthropic({ model, step, usage, send }: NamedAnswer): void {
  const uncached = usage.context - usage.cached;
  const fresh = Math.min(uncached, 12);
  const spent = {
    input_tokens: fresh,
    cache_creation_input_tokens: uncached - fresh,
    cache_read_input_tokens: usage.cached,
    output_tokens: usage.output,
  };
  send('message_start', {
    message: {
      id: id('msg_'),
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...spent, output_tokens: 1, service_tier: 'standard' },
    },
  });
  for (const [index, { start, deltas }] of blocksOf(step).entries()) {
    send('content_block_start', { index, content_block: start });
    for (const delta of deltas) send('content_block_delta', { index, delta });
    send('content_block_stop', { index });
  }
  send('message_delta', {
    delta: { stop_reason: step.calls?.length ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { ...spent, output_tokens_details: { thinking_tokens: 0 } },
  });
  send('message_stop', {});
}

const blocksOf = ({ say, calls = [] }: Step): { start: object; deltas: object[] }[] => [
  { start: { type: 'text', text: '' }, deltas: words(say).map((text) => ({ type: 'text_delta', text })) },
  ...calls.map(({ tool, input }) => ({
    start: { type: 'tool_use', id: id('toolu_'), name: tool, input: {} },
    deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }],
  })),
];
