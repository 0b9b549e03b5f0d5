/*
 * What the price of a response is multiplied by if it ran under other terms than the vendor's normal ones. Web searches are not
 * multiplied.
 */

export interface TermsRow {
  /** `fast`, `priority`, `flex`, `batch`, or `in:` with the place of inference. */
  term: string;
  /** The beginnings of the models' names. */
  models: readonly string[];
  times: number;
  /** Whether it also holds for prompts that have a price of their own because of their length. */
  isForLongPrompts: boolean;
  source: string;
  /** The day on which the source was read. */
  read: string;
}

const CLAUDE_FAST = 'https://platform.claude.com/docs/en/build-with-claude/fast-mode';
const CLAUDE_PRICES = 'https://platform.claude.com/docs/en/about-claude/pricing';
const CLAUDE_PLACES = 'https://platform.claude.com/docs/en/manage-claude/data-residency';
const OPENAI_FAST = 'https://openai.com/api-fast-mode/';
const OPENAI_PRICES = 'https://developers.openai.com/api/docs/pricing';
const OPENAI_PLACES = 'https://developers.openai.com/api/docs/guides/data-residency';
const GEMINI_TIERS = 'https://ai.google.dev/gemini-api/docs/optimization';

const READ = '2026-11-28';
const row = (term: string, models: string, times: number, source: string, isForLongPrompts = true): TermsRow => {
  return { term, models: models.split(' '), times, isForLongPrompts, source, read: READ };
};

const CLAUDE_WITH_PLACES =
  'claude-opus-4-6 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-sonnet-4-6 claude-sonnet-5 claude-haiku-5 claude-fable-5 claude-mythos-5';
const GPT_WITH_PLACES = 'gpt-5.4 gpt-5.5 gpt-5.6 gpt-6';

export const TERMS: readonly TermsRow[] = [
  row('fast', 'claude-opus-4-6 claude-opus-4-7', 6, CLAUDE_FAST),
  row('fast', 'claude-opus-4-8 claude-opus-5', 2, CLAUDE_FAST),
  row('batch', 'claude-', 0.5, CLAUDE_PRICES),
  row('in:us', CLAUDE_WITH_PLACES, 1.1, CLAUDE_PLACES),
  row('priority', 'gpt-5.5', 2.5, OPENAI_FAST, false),
  row('priority', 'gpt-5-mini', 1.8, OPENAI_FAST, false),
  row('priority', 'gpt-4.1 gpt-4.1-mini o3', 1.75, OPENAI_FAST, false),
  row('priority', 'gpt-4o', 1.7, OPENAI_FAST, false),
  row('priority', 'gpt-4o-mini', 5 / 3, OPENAI_FAST, false),
  row('priority', 'gpt-4.1-nano gpt-5 gpt-5.1 gpt-5.2 gpt-5.4 gpt-5.6 gpt-6', 2, OPENAI_FAST, false),
  row('flex', 'gpt-5 o3 o4-mini gpt-6-sol gpt-6-luna gpt-6-astra gpt-6.1-sol', 0.5, OPENAI_PRICES),
  row('batch', 'gpt- o3 o4-mini', 0.5, OPENAI_PRICES),
  row('in:us', GPT_WITH_PLACES, 1.1, OPENAI_PLACES),
  row('in:us', 'gpt- o3 o4-mini', 1, OPENAI_PLACES),
  row('in:eu', GPT_WITH_PLACES, 1.1, OPENAI_PLACES),
  row('in:eu', 'gpt- o3 o4-mini', 1, OPENAI_PLACES),
  row('priority', 'gemini-', 1.8, GEMINI_TIERS),
  row('flex', 'gemini-', 0.5, GEMINI_TIERS),
  row('batch', 'gemini-', 0.5, GEMINI_TIERS),
];

/** The row with the longest beginning of the model's name. */
export function findTerms(term: string, model: string): TermsRow | undefined {
  let found: [length: number, row: TermsRow | undefined] = [0, undefined];
  for (const row of TERMS) {
    if (row.term !== term) continue;
    for (const name of row.models) if (model.startsWith(name) && name.length > found[0]) found = [name.length, row];
  }
  return found[1];
}
