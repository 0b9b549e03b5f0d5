import type { Terms } from '../../../transcript/entry/usage.ts';

/*
 * A model has many names: agents, gateways and clouds add prefixes, regions, dates and versions, and write versions with a dot or
 * a hyphen. The prices are by the vendor's own name.
 */

const VENDORS =
  'anthropic|openai|google|meta|mistral|mistralai|qwen|alibaba|deepseek|deepseek-ai|moonshotai|moonshot-ai|moonshot|xai|x-ai|zai|z-ai|zai-org|zhipuai|minimax|minimaxai';

/** In order. Each removes one kind of addition. */
const ADDITIONS: readonly RegExp[] = [
  // The window that Claude Code requests: `claude-opus-4-6[1m]`.
  /\[[^\]]*\]$/,
  // Paths of gateways, clouds and ARNs: `openrouter/anthropic/…`, `publishers/anthropic/models/…`.
  /^.*\//,
  // The variant of a router: `…:thinking`. A free variant is a different product.
  /:(?!free$)[a-z]+$/,
  // `openai:gpt-5`
  new RegExp(`^(?:${VENDORS}):`),
  // The region of Bedrock, and the vendor before the name.
  /^(?:us-gov|us|eu|apac|global|jp|au|ca)\./,
  new RegExp(`^(?:${VENDORS})\\.`),
  // The version of Bedrock: `-v1:0`, `-v1`, `:0`.
  /(?:-v\d+)?(?::\d+)?$/,
  // Vertex: `@20251101`, `@default`.
  /@[a-z0-9]+$/,
  /-latest$/,
  // The day of the version: `-20251101`, `-2026-09-29`.
  /-20\d{2}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$/,
];

/** Cursor adds the effort to the name: `gpt-5.4-high`, `claude-4.6-opus-high-thinking`. */
const EFFORT = /-(?:thinking|xhigh|high|medium|low|minimal|none)$/;
const FAST = /-fast$/;

/** The vendor's name of the model, and the terms that are part of the given name. */
export function readModelName(model: string): { name: string; terms: Terms } {
  const plain = ADDITIONS.reduce((name, addition) => name.replace(addition, ''), model.toLowerCase().trim());
  const isClaude = plain.startsWith('claude-');
  if (!isClaude && !/^gpt-\d/.test(plain)) return { name: plain, terms: {} };
  const [calm, isFast] = [plain.replace(FAST, ''), FAST.test(plain)];
  const name = withoutEffort(calm).replace(ADDITIONS.at(-1) as RegExp, '');
  if (!isClaude) return { name, terms: isFast ? { tier: 'priority' } : {} };
  return { name: claudeName(name), terms: isFast ? { speed: 'fast' } : {} };
}

function withoutEffort(name: string): string {
  const shorter = name.replace(EFFORT, '');
  return shorter === name ? name : withoutEffort(shorter);
}

/** `claude-4.6-opus` is `claude-opus-4-6`. The family comes after the version up to version 3 only. */
const claudeName = (name: string): string =>
  name.replace(/(?<=\d)\.(?=\d)/g, '-').replace(/^claude-([4-9](?:-\d{1,2})?)-([a-z]+)$/, 'claude-$2-$1');
