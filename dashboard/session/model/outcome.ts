import type { Milestone, SessionFacts } from '../../../contract/review.ts';
import { withoutShell } from '../../../transcript/entry/command.ts';
import type { Entry } from '../../../transcript/entry/entry.ts';
import { orderOf } from '../../../transcript/entry/revisions.ts';
import type { Timeline } from './build.ts';
import { childrenOf, type Item, type ToolItem } from './items.ts';
import { costOfSpent } from './spent.ts';
import { type Turn, turnNumber } from './turns.ts';

/** The outcome of a session in figures. Each figure links to the event `at`, a sequence number. */
export interface Outcome {
  /** The result of the last run of tests. */
  tests?: { passed: boolean; at: number };
  /** The last turn was interrupted. */
  interrupted?: { at: number };
  commits?: { count: number; isPushed: boolean; at: number };
  pullRequests: readonly Milestone[];
  changes?: { files: number; added: number; removed: number };
  /** `at` is the first failure that was not recovered, or else the last failure. */
  failures?: { count: number; recovered: number; at: number };
  /** Time during which the agent waited for a person, in milliseconds. */
  waiting?: { durationMs: number; at: number };
  /** The most expensive turn. */
  dearest?: { turn: number; cost: number; at: number };
}

/** A shorter wait is not counted: the person was present all the time. */
const MIN_WAIT_MS = 60_000;
const WORK: ReadonlySet<Entry['kind']> = new Set(['answer', 'call', 'result', 'turn']);

type Known = Pick<Timeline, 'items' | 'turns' | 'entries'>;

export function readOutcome(
  { items, turns, entries }: Known,
  facts?: Pick<SessionFacts, 'milestones' | 'tests' | 'commits' | 'usage'>,
): Outcome {
  const steps = stepsOf(items);
  const failures = readFailures(steps);
  const commits = readCommits(steps, facts?.commits);
  const waiting = readWaiting(entries);
  const dearest = readDearest(turns, facts?.usage);
  const last = turns.at(-1);
  const changes = sumChanges(turns);
  return {
    ...readOutcomeOfFacts(facts),
    ...(last?.interrupted && { interrupted: { at: lastOf(last).sequence } }),
    ...(commits && { commits }),
    ...(changes.files > 0 && { changes }),
    ...(failures && { failures }),
    ...(waiting && { waiting }),
    ...(dearest && { dearest }),
  };
}

/** What is known of the outcome while only a part of the events is loaded. */
export const readOutcomeOfFacts = (facts?: Pick<SessionFacts, 'milestones' | 'tests'>): Outcome => ({
  ...(facts?.tests && { tests: { passed: facts.tests.passed, at: facts.tests.sequence } }),
  pullRequests: facts?.milestones.filter(({ kind }) => kind === 'pull_request') ?? [],
});

const lastOf = ({ items }: Turn): Item => items.at(-1) as Item;

/** A step of the session for the outcome: a call, an answer or an error of the agent. */
type Step = { item: Item; order: number; goals: readonly string[]; failed: boolean; ended: boolean };

function stepsOf(items: readonly Item[]): Step[] {
  const steps: Step[] = [];
  const visit = (item: Item) => {
    const { order } = item;
    if (item.kind === 'tool') {
      const ended = item.results.length > 0;
      steps.push({ item, order, goals: goalsOf(item), failed: item.failed, ended });
    } else if (item.kind === 'message' && (item.entry.kind === 'error' || item.entry.kind === 'answer')) {
      steps.push({ item, order, goals: ['answer'], failed: item.entry.kind === 'error', ended: true });
    }
    if (item.kind !== 'quiet') for (const child of childrenOf(item)) visit(child);
  };
  for (const item of items) visit(item);
  return steps.sort((one, other) => one.order - other.order);
}

/** The goals of a call. A failed call is recovered if a later call with the same goal succeeds. */
function goalsOf({ name, call, changes }: ToolItem): string[] {
  // A failed result reports no changes.
  const wanted = call && call.changes.length > 0 ? call.changes : changes;
  if (wanted.length > 0) return wanted.map(({ path }) => `edit ${path}`);
  const purposes = call?.purposes?.filter(
    (purpose) => purpose === 'tests' || purpose === 'commit' || purpose === 'push',
  );
  if (purposes && purposes.length > 0) return purposes;
  return [`${name} ${call?.command === undefined ? (call?.about ?? '') : taskOf(call.command)}`];
}

/** What may precede the program: a change of the folder, and variables: `cd app && CI=1 npm run build`. */
const BEFORE = /^(?:\s*(?:cd\s[^;&|\n]{1,300}(?:&&|;)|\w+=\S*\s))+/;
/** A word that names something to do, such as `build:docs` or `dry-run`: neither an option nor a path. */
const NAME = /^\w[\w:-]*$/;

/**
 * What a command does: its program and first argument, and the words after them up to an option or a path. So
 * `npm run build -- --watch` is `npm run build`, and a later `npm run lint` does not recover it. The first argument always
 * counts, because `cat a.txt` does not recover `cat b.txt`, nor `python -m pip` `python -m build`.
 */
function taskOf(command: string): string {
  const [first = ''] = withoutShell(command)
    .replace(BEFORE, '')
    .trim()
    .split(/[;&|\n]|\d?[<>]/, 1);
  const words = first.trim().split(/\s+/);
  const end = words.findIndex((word, at) => at > 1 && !NAME.test(word));
  return (end === -1 ? words : words.slice(0, end)).join(' ');
}

function readFailures(steps: readonly Step[]): Outcome['failures'] {
  const achieved = new Set<string>();
  let count = 0;
  let recovered = 0;
  let last: Item | undefined;
  let open: Item | undefined;
  for (const { item, goals, failed, ended } of steps.toReversed()) {
    if (!failed) {
      if (ended) for (const goal of goals) achieved.add(goal);
      continue;
    }
    count++;
    last ??= item;
    if (goals.every((goal) => achieved.has(goal))) recovered++;
    else open = item;
  }
  return last && { count, recovered, at: (open ?? last).sequence };
}

function readCommits(steps: readonly Step[], commits: SessionFacts['commits']): Outcome['commits'] {
  if (!commits) return undefined;
  const { count, sequence } = commits;
  const pushed = steps.findLast(({ goals, failed, ended }) => goals.includes('push') && ended && !failed);
  const results = pushed?.item.kind === 'tool' ? pushed.item.results.map(orderOf) : [];
  return { count, isPushed: Math.max(0, ...results) >= sequence, at: sequence };
}

function sumChanges(turns: readonly Turn[]): NonNullable<Outcome['changes']> {
  const files = new Set(turns.flatMap((turn) => [...turn.files]));
  const sum = (figure: 'added' | 'removed') => turns.reduce((total, turn) => total + turn[figure], 0);
  return { files: files.size, added: sum('added'), removed: sum('removed') };
}

/** The time from the end of the agent's work to the next prompt, without sub-agents. `at` ended the longest wait. */
function readWaiting(entries: readonly Entry[]): Outcome['waiting'] {
  let worked: number | undefined;
  let durationMs = 0;
  let longest = { waited: 0, at: 0 };
  for (const { kind, lane, timed, time, sequence } of entries) {
    if (!timed || lane !== undefined) continue;
    if (WORK.has(kind)) worked = time;
    const waited = kind === 'prompt' && worked !== undefined ? time - worked : 0;
    if (waited < MIN_WAIT_MS) continue;
    durationMs += waited;
    if (waited > longest.waited) longest = { waited, at: sequence };
  }
  return durationMs > 0 ? { durationMs, at: longest.at } : undefined;
}

function readDearest(turns: readonly Turn[], usage: Parameters<typeof costOfSpent>[1]): Outcome['dearest'] {
  let dearest: Outcome['dearest'];
  for (const [index, turn] of turns.entries()) {
    const cost = costOfSpent(turn.spent, usage);
    if (cost === undefined || cost <= (dearest?.cost ?? 0) || !turn.prompt) continue;
    dearest = { turn: turnNumber(turns, index), cost, at: turn.prompt.sequence };
  }
  return dearest;
}
