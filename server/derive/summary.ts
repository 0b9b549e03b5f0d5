import type { SessionSummary } from '../../contract/review.ts';
import { optional, optionalTimestamp } from '../store/columns.ts';
import type { SummaryRow } from '../store/summaries.ts';
import type { Facts } from './facts.ts';
import { shapeOf } from './shape.ts';

/** What lists show beside figures; kept as JSON, so that they need not read all that is known. */
type Shown = Pick<
  SessionSummary,
  'title' | 'firstPrompt' | 'firstCommand' | 'repository' | 'gitBranch' | 'person' | 'model' | 'shape'
>;

const LONGEST_COMMAND = 120;

export const writeShown = (facts: Facts): string => {
  const { title, firstPrompt, repository, branches, person, model, shape, first, last, commands } = facts;
  const [command] = commands.keys();
  const firstCommand =
    title === undefined && firstPrompt === undefined ? command?.slice(0, LONGEST_COMMAND) : undefined;
  const shown = { title, firstPrompt, firstCommand, repository, gitBranch: branches.at(-1), person, model };
  const isTimed = first !== undefined && last !== undefined;
  return JSON.stringify({ ...shown, ...(isTimed && { shape: shapeOf(shape, last - first) }) });
};

/** What is known of a session; nothing but where it belongs, where nothing was derived yet. */
export function toSummary({ session, continues, forkedFrom, derived }: SummaryRow): SessionSummary {
  const shown: Shown = derived?.summary ? JSON.parse(derived.summary) : {};
  return {
    sessionId: session.session_id,
    ...optional('repository', session.repository ?? session.repo_root),
    ...optional('gitBranch', session.git_branch),
    ...shown,
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
    ...optional('cost', derived?.cost ?? null),
    ...optionalTimestamp('firstEventAt', derived?.first_event_at ?? null),
    ...optionalTimestamp('lastEventAt', derived?.last_event_at ?? null),
    summarizedThrough: derived?.derived_through ?? 0,
  };
}
