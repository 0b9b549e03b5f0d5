import type { SessionFacts } from '../../contract/review.ts';
import { type Facts, readFacts } from './facts.ts';
import type { Prices } from './prices.ts';

/** What is known of a session, in the shape of the contract. `text` is what is stored of it. */
export function toSessionFacts(text: string, prices: Prices): Omit<SessionFacts, 'summary' | 'related'> {
  const facts = readFacts(text);
  const window = facts.model === undefined ? undefined : prices.contextWindowOf(facts.model);
  return {
    ...(facts.folder !== undefined && { folder: facts.folder }),
    branches: facts.branches,
    tools: toolsOf(facts),
    files: [...facts.files].map(([path, [edits, added, removed, sequence]]) => {
      return { path, edits, added, removed, sequence };
    }),
    commands: [...facts.commands].map(([command, [runs, failed, exitCode, sequence]]) => {
      return { command, runs, failed, ...(exitCode !== null && { exitCode }), sequence };
    }),
    usage: usageOf(facts, prices),
    milestones: facts.milestones,
    ...(window && { contextWindow: window.most, usualWindow: window.usual }),
  };
}

function toolsOf({ days }: Facts): SessionFacts['tools'] {
  const tools = new Map<string, { name: string; calls: number; failed: number }>();
  for (const [name, [calls, failed]] of [...days.values()].flatMap((day) => [...day.tools])) {
    const tool = tools.get(name) ?? { name, calls: 0, failed: 0 };
    tools.set(name, { name, calls: tool.calls + calls, failed: tool.failed + failed });
  }
  return [...tools.values()].sort((one, other) => other.calls - one.calls);
}

const usageOf = ({ days }: Facts, prices: Prices): SessionFacts['usage'] =>
  [...days]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([day, { models }]) =>
      [...models].map(([model, tokens]) => {
        const [inputTokens, cachedTokens, cacheWriteTokens, outputTokens] = tokens;
        const cost = prices.costOf(model, day, tokens);
        const price = prices.priceOf(model, day);
        return {
          ...{ day, model, inputTokens, cachedTokens, cacheWriteTokens, outputTokens },
          ...(cost !== undefined && { cost }),
          ...(price && { price }),
        };
      }),
    );
