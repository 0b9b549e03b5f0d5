import { type Answer, id, type Json, list } from './wire.ts';

/** The streaming OpenAI chat-completions wire format, which OpenCode, Copilot CLI, Qwen Code, Cline and pi read. */
export function answerChat({ model, step, usage, send }: Answer): void {
  const base = { id: id('chatcmpl-'), object: 'chat.completion.chunk', created: Math.floor(Date.now() / 1000), model };
  const chunk = (delta: object, finish: string | null = null) =>
    send({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  chunk({ role: 'assistant', content: '' });
  for (const word of step.say.match(/\S+\s*/g) ?? []) chunk({ content: word });
  const calls = (step.calls ?? []).map(({ tool, input }, index) => ({
    index,
    id: id('call_'),
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }));
  if (calls.length > 0) chunk({ tool_calls: calls });
  chunk({}, calls.length > 0 ? 'tool_calls' : 'stop');
  const tokens = { prompt_tokens: usage.context, completion_tokens: usage.output };
  const details = { prompt_tokens_details: { cached_tokens: usage.cached } };
  send({ ...base, choices: [], usage: { ...tokens, total_tokens: usage.context + usage.output, ...details } });
  send('[DONE]');
}

export const readChat = (body: Json) => ({
  tools: list(body.tools).map((tool) => String((tool.function as Json | undefined)?.name)),
  texts: list(body.messages)
    .filter(({ role }) => role === 'user')
    .map(({ content }) => JSON.stringify(content)),
  isAnswered: list(body.messages).at(-1)?.role === 'tool',
});
