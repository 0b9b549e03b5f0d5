/** The Anthropic Messages wire format, streaming, as Claude Code reads it. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Step } from './scenario.ts';
import type { Usage } from './tokens.ts';

type Block = { type: string; text?: string };
export type AnthropicRequest = { model: string; messages: { role: string; content: string | Block[] }[] };

export type Answer = {
  model: string;
  step: Step;
  usage: Usage;
  send: (type: string, data: object) => void;
  /** Milliseconds to spread the answer over. */
  pause: number;
};

const id = (prefix: string): string => prefix + randomBytes(12).toString('hex');

/** The texts of people, without those of tools. A sub-agent is recognized by its task in them. */
export function readAnthropicPrompts({ messages }: AnthropicRequest): string[] {
  return messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content))
    .flatMap(({ type, text }) => (type === 'text' && text ? [text] : []));
}

export async function answerAnthropic({ model, step, usage, send, pause }: Answer): Promise<void> {
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
  const blocks = blocksOf(step);
  for (const [index, { start, deltas }] of blocks.entries()) {
    send('content_block_start', { index, content_block: start });
    for (const delta of deltas) {
      await sleep(pause / blocks.length / deltas.length);
      send('content_block_delta', { index, delta });
    }
    send('content_block_stop', { index });
  }
  send('message_delta', {
    delta: { stop_reason: step.calls?.length ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { ...spent, output_tokens_details: { thinking_tokens: usage.reasoning } },
  });
  send('message_stop', {});
}

function blocksOf({ think, say, calls = [] }: Step): { start: object; deltas: object[] }[] {
  const blocks: { start: object; deltas: object[] }[] = [];
  if (think) {
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...words(think).map((thinking) => ({ type: 'thinking_delta', thinking })),
        // The vendor's servers verify the real signature; nothing verifies this one.
        { type: 'signature_delta', signature: randomBytes(96).toString('base64') },
      ],
    });
  }
  if (say) {
    blocks.push({
      start: { type: 'text', text: '' },
      deltas: words(say).map((text) => ({ type: 'text_delta', text })),
    });
  }
  for (const { tool, input } of calls) {
    blocks.push({
      start: { type: 'tool_use', id: id('toolu_'), name: tool, input: {} },
      deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }],
    });
  }
  return blocks;
}

const words = (text: string): string[] => text.match(/(\S+\s*){1,6}|\s+/g) ?? [text];
