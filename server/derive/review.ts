import type { SessionFacts, SessionSummary } from '../../contract/review.ts';
import { toDollars } from '../../transcript/entry/cost.ts';
import type { WithoutContent } from '../erase/kept-rows.ts';
import { optional, optionalTimestamp } from '../store/columns.ts';
import type { SessionFactsRow } from '../store/schema.ts';
import { VERSION_OF_KEPT } from '../store/session-rows.ts';
import type { SummaryRow } from '../store/summaries.ts';
import { type Facts, noFacts, readStoredFacts, writeFacts } from './facts.ts';
import { shapeOf } from './shape.ts';
import { costOfSpent, readKey } from './spent.ts';
import { hasFormOf } from './version.ts';

/** The texts that lists show, stored as JSON so that a list need not read the facts. */
type Shown = Pick<
  SessionSummary,
  'title' | 'firstPrompt' | 'firstCommand' | 'repository' | 'gitBranch' | 'account' | 'model' | 'shape'
>;

const MAX_COMMAND = 120;

export const writeShown = (facts: Facts): string => {
  const { title, firstPrompt, repository, branches, account, model, shape, first, last, commands } = facts;
  const [command] = commands.keys();
  const firstCommand = title === undefined && firstPrompt === undefined ? command?.slice(0, MAX_COMMAND) : undefined;
  const shown = { title, firstPrompt, firstCommand, repository, gitBranch: branches.at(-1), account, model };
  const isTimed = first !== undefined && last !== undefined;
  return JSON.stringify({ ...shown, ...(isTimed && { shape: shapeOf(shape, last - first) }) });
};

/** The summary of a session for answers; without figures if nothing has been derived yet. */
export function toSummary({ session, continues, forkedFrom, derived, isReadable }: SummaryRow): SessionSummary {
  const all: Shown = derived?.summary ? JSON.parse(derived.summary) : {};
  const shown = isReadable ? all : withoutContent(all);
  return {
    sessionId: session.session_id,
    ...optional('repository', session.repository ?? session.repo_root),
    ...optional('gitBranch', session.git_branch),
    ...shown,
    ...optional('userId', session.user_id),
    ...optional('secretId', session.secret_id),
    ...optional('continues', continues),
    ...optional('forkedFrom', forkedFrom),
    prompts: derived?.prompts ?? 0,
    toolCalls: derived?.tool_calls ?? 0,
    failures: derived?.failures ?? 0,
    redactions: derived?.redactions ?? 0,
    filesChanged: derived?.files_changed ?? 0,
    linesAdded: derived?.lines_added ?? 0,
    linesRemoved: derived?.lines_removed ?? 0,
    inputTokens: derived?.input_tokens ?? 0,
    cachedTokens: derived?.cached_tokens ?? 0,
    outputTokens: derived?.output_tokens ?? 0,
    ...optional('cost', derived && derived.cost !== null ? toDollars(derived.cost) : null),
    ...optionalTimestamp('firstEventAt', derived?.first_event_at ?? null),
    ...optionalTimestamp('lastEventAt', derived?.last_event_at ?? null),
    // Facts of another version are never shown, so the reader must request the summary again.
    summarizedThrough: derived && isKnown(derived) ? derived.derived_through : 0,
  };
}

const isKnown = ({ version }: Pick<SessionFactsRow, 'version'>) => hasFormOf(version) || version === VERSION_OF_KEPT;

/** Copies only the listed fields, so that a text that is added later stays hidden from people who may not read it. */
const withoutContent = ({ repository, gitBranch, account, model, shape }: Shown): Shown => ({
  ...(repository !== undefined && { repository }),
  ...(gitBranch !== undefined && { gitBranch }),
  ...(account !== undefined && { account }),
  ...(model !== undefined && { model }),
  ...(shape !== undefined && { shape }),
});

/**
 * The facts of a session for answers.
 * @param bytes the stored facts
 * @param isReadable whether the reader may see what was said and run in the session
 */
export function toSessionFacts(
  bytes: Uint8Array | null,
  isReadable: boolean,
): Omit<SessionFacts, 'summary' | 'related' | 'holdId' | 'pricesOf'> {
  const stored = readStoredFacts(bytes);
  const facts = isReadable ? stored : factsAlone(stored);
  const { window } = facts;
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
    usage: usageOf(facts),
    ...(facts.tests && { tests: { passed: facts.tests.passed, sequence: facts.tests.sequence } }),
    ...(facts.commits.count > 0 && { commits: facts.commits }),
    milestones: facts.milestones,
    turns: facts.turns,
    ...(window && { contextWindow: window.most, usualWindow: window.usual }),
  };
}

/** Does the same for facts: copies only the listed fields. */
function factsAlone(facts: Facts): Facts {
  const { folder, repository, address, account, model, first, last, lag } = facts;
  const { folded, isRewritten, branches, prompts, calls, failures, redactions, linesAdded, linesRemoved } = facts;
  const { interrupted, files, days, shape, room, window } = facts;
  return {
    ...noFacts(),
    ...{ folded, isRewritten, branches, prompts, calls, failures, redactions, linesAdded, linesRemoved },
    ...{ interrupted, files, days, shape, room },
    ...Object.fromEntries(
      Object.entries({ folder, repository, address, account, model, first, last, lag, window }).filter(
        ([, value]) => value !== undefined,
      ),
    ),
  };
}

/**
 * The stored facts without content. People who may not read the session see these, and they remain when the session's content
 * is removed.
 */
export const withoutContentIn: WithoutContent = ({ version, facts, summary }) => ({
  facts: hasFormOf(version) && facts !== null ? writeFacts(factsAlone(readStoredFacts(facts))) : null,
  summary: JSON.stringify(withoutContent(summary === '' ? {} : JSON.parse(summary))),
});

function toolsOf({ days }: Facts): SessionFacts['tools'] {
  const tools = new Map<string, { name: string; calls: number; failed: number }>();
  for (const [name, [calls, failed]] of [...days.values()].flatMap((day) => [...day.tools])) {
    const tool = tools.get(name) ?? { name, calls: 0, failed: 0 };
    tools.set(name, { name, calls: tool.calls + calls, failed: tool.failed + failed });
  }
  return [...tools.values()].sort((one, other) => other.calls - one.calls);
}

const usageOf = ({ days }: Facts): SessionFacts['usage'] =>
  [...days]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([day, { models }]) =>
      [...models].map(([key, spent]) => {
        const [inputTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens, webSearches] =
          spent.tokens;
        const { price, above, upTo, unknown } = spent;
        const { model, terms } = readKey(key);
        const cost = costOfSpent(spent);
        return {
          ...{ day, model, terms, inputTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens },
          ...{ outputTokens, webSearches },
          ...(cost !== null && { cost: toDollars(cost) }),
          ...(price && { price }),
          ...(above !== undefined && { above }),
          ...(upTo !== undefined && { upTo }),
          ...(unknown !== undefined && { unknownTerms: unknown }),
        };
      }),
    );
