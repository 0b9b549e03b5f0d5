/**
 * Realistic token counts: the context grows with the conversation, and earlier text is read from the cache. Four characters a
 * token is close enough for English and code.
 */
import type { Step } from './wire.ts';

const CHARACTERS_PER_TOKEN = 4;
/** Caches work in blocks; a context that shrank (compaction) still shares its instructions with the one before. */
const CACHE_BLOCK = 128;
const SHARED_INSTRUCTIONS = 8_192;

export type Usage = {
  /** Everything sent, cached or not. */
  context: number;
  cached: number;
  output: number;
};

const count = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

function tokensOfStep({ say, calls = [] }: Step): number {
  return calls.reduce((sum, { input }) => sum + count(JSON.stringify(input)) + 24, count(say));
}

export function createTokenMeter() {
  let previous = 0;
  return (body: string, step: Step): Usage => {
    const context = count(body);
    const shared = previous <= context ? previous : Math.min(context, SHARED_INSTRUCTIONS);
    previous = context;
    return {
      context,
      cached: shared - (shared % CACHE_BLOCK),
      output: tokensOfStep(step),
    };
  };
}
