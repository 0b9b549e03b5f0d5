import type { Milestone } from '../../contract/review.ts';
import type { Entry, PromptEntry, ResultEntry } from '../../transcript/entry/entry.ts';
import { type Facts, type OpenCall, takeRoom } from './facts.ts';
import { addKey, hasKey, type KeyForm } from './seen-keys.ts';

/** The most milestones that are listed. Tests and commits after them still count. */
const MAX_LISTED = 500;
/** The shortest form of a hash that git prints. */
const COMMITTED: KeyForm = { length: 7, most: 1_000 };
/** A person who is away for less time may just be reading. */
const MIN_WAIT_MS = 5 * 60_000;

function add(facts: Facts, { sequence, timed, time }: Entry, milestone: Omit<Milestone, 'sequence' | 'time'>): void {
  if (facts.milestones.length >= MAX_LISTED || !takeRoom(facts, milestone.text + (milestone.url ?? ''))) return;
  facts.milestones.push({ sequence, ...(timed && { time: new Date(time).toISOString() }), ...milestone });
}

export function noteMilestones(facts: Facts, entry: Entry): void {
  if (entry.kind === 'compaction' && !isRepeated(facts, entry)) {
    add(facts, entry, { kind: 'compaction', text: entry.trigger ?? '' });
  }
  if (entry.kind !== 'result' || entry.callId === undefined) return;
  const call = facts.openCalls.get(entry.callId);
  if (call) noteCommand(facts, entry, call);
}

/** Files of one session may overlap. Each of them then contains the same compaction, with the same time. */
function isRepeated({ milestones }: Facts, { timed, time }: Entry): boolean {
  const at = new Date(time).toISOString();
  return timed && milestones.some((known) => known.kind === 'compaction' && known.time === at);
}

function noteCommand(facts: Facts, entry: ResultEntry, call: OpenCall): void {
  const { command = '', purposes } = call;
  if (runsTests(entry, call)) noteTests(facts, entry, call);
  if (purposes.includes('commit')) {
    const commits = commitsOf(entry, call);
    for (const commit of commits) noteCommit(facts, entry, commit);
    // The rest of the output of a command that still runs adds no commit twice.
    if (commits.length > 0) call.subjects = [];
  }
  if (purposes.includes('pull_request') && entry.pullRequest) {
    add(facts, entry, { kind: 'pull_request', text: titleOf(command) ?? entry.pullRequest, url: entry.pullRequest });
  }
}

/** A command runs tests if its name or its output says so: the summary of a test runner. A log with a summary is not a run. */
const runsTests = ({ testsPassed }: ResultEntry, { command, purposes }: OpenCall): boolean =>
  purposes.includes('tests') || (testsPassed !== undefined && command !== undefined && !purposes.includes('reading'));

/** Adds a milestone if tests turned red or green. The summary of the test runner takes precedence over an exit code. */
function noteTests(facts: Facts, entry: ResultEntry, call: OpenCall): void {
  const passed = passedBy(entry, call);
  call.isJudged = true;
  if (passed === undefined || facts.tests?.passed === passed) return;
  facts.tests = { passed, sequence: entry.sequence, wereRed: !passed || facts.tests !== undefined };
  add(facts, entry, { kind: 'tests', text: call.command ?? '', passed });
}

/** While a command runs, later tests may still fail. */
function passedBy(entry: ResultEntry, call: OpenCall): boolean | undefined {
  if (entry.running !== undefined) return entry.testsPassed === false ? false : undefined;
  return entry.testsPassed ?? passedByExit(entry, call);
}

/** Adds a commit. An agent may report a result twice, and a later output may repeat an earlier one. */
function noteCommit(facts: Facts, entry: ResultEntry, commit: { text: string; hash?: string }): void {
  const { hash } = commit;
  if (hash !== undefined && hasKey(facts.committed, hash, COMMITTED)) return;
  if (hash !== undefined) facts.committed = addKey(facts.committed, hash, COMMITTED);
  facts.commits = { count: facts.commits.count + 1, sequence: entry.sequence };
  add(facts, entry, { kind: 'commit', ...commit });
}

/** Whether tests passed, by the exit code. An agent may report a run twice, once without its result. */
function passedByExit({ exitCode, failed }: ResultEntry, { purposes, isJudged }: OpenCall): boolean | undefined {
  const isTheirs = purposes.includes('exit_of_tests');
  if (failed) return isTheirs ? false : undefined;
  const isTold = (isTheirs || purposes.includes('success_of_tests')) && (exitCode !== undefined || !isJudged);
  return isTold ? true : undefined;
}

const titleOf = (command: string): string | undefined =>
  /\s(?:--title|-t)[ =](?:"([^"]{1,300})"|'([^']{1,300})')/.exec(command)?.slice(1).find(Boolean);

/** Adds a wait if the agent had finished and the person came back late. */
export function noteWait(facts: Facts, prompt: PromptEntry): void {
  if (!prompt.timed || facts.workedAt === undefined) return;
  const durationMs = prompt.time - facts.workedAt;
  if (durationMs > MIN_WAIT_MS) add(facts, prompt, { kind: 'wait', text: '', durationMs });
}

/** The commits in the output. A quiet command prints none, so the subjects in the command itself count unless it failed. */
function commitsOf(
  { commits, failed, running }: ResultEntry,
  { subjects = [] }: OpenCall,
): { text: string; hash?: string }[] {
  if (commits) return commits.map(({ hash, subject }) => ({ text: subject, hash }));
  return failed || running !== undefined ? [] : subjects.map((text) => ({ text }));
}
