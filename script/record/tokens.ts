/**
 * Realistic token counts: the context grows with the conversation, and earlier text is read from the cache. Four characters a
 * token is close enough for English and code.
 */
import type { Step } from './scenario.ts';

const CHARACTERS_PER_TOKEN = 4;
/** Caches work in blocks; a context that shrank (compaction) still shares its instructions with the one before. */
const CACHE_BLOCK = 128;
const SHARED_INSTRUCTIONS = 8_192;

export type Usage = {
  /** Everything sent, cached or not. */
  context: number;
  cached: number;
  output: number;
  /** The part of `output` that was reasoning. */
  reasoning: number;
};

const count = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

export function tokensOfStep(step: Step): number {
  const calls = (step.calls ?? []).map((call) => count(JSON.stringify(call.input)) + 24);
  return count(step.think ?? '') + count(step.say ?? '') + calls.reduce((sum, tokens) => sum + tokens, 0);
}

export function createTokenMeter() {
  const previous = new Map<string, number>();
  return (conversation: string, body: string, step: Step): Usage => {
    const context = count(body);
    const before = previous.get(conversation) ?? 0;
    const shared = before <= context ? before : Math.min(context, SHARED_INSTRUCTIONS);
    previous.set(conversation, context);
    return {
      context,
      cached: shared - (shared % CACHE_BLOCK),
      output: tokensOfStep(step),
      reasoning: count(step.think ?? ''),
    };
  };
}
