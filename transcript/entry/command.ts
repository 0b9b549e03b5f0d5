import { readShell } from './shell.ts';
import { onlyShowsText, runsTests, type Told, toldByExit } from './test-run.ts';
import { readSummary } from './test-summary.ts';
import { asParsedObject } from './value.ts';

/**
 * The purpose of a command, if people remember sessions by it. `exit_of_tests`: its exit code is the result of the tests.
 * `success_of_tests`: the tests passed if it succeeds, but a failure may have another cause. `reading`: it only shows texts, so
 * a summary of tests in its output is not of a run.
 */
export type Purpose = 'commit' | 'push' | 'pull_request' | 'tests' | Told | 'reading';

export interface Commit {
  hash: string;
  subject: string;
}

/** The outcome of a command, found anywhere in its output. */
export interface Outcome {
  commits?: Commit[];
  /** Address of a pull request. */
  pullRequest?: string;
  /** The result in the summary of a test runner. */
  testsPassed?: boolean;
}

/** The command that a call runs; undefined for other tools. */
export function commandOf(input: unknown): string | undefined {
  const { command, cmd, commands } = asParsedObject(input);
  const value = command ?? cmd ?? commands;
  const isWords = Array.isArray(value) && value.every((word) => typeof word === 'string');
  if (isWords) return value.join(value === commands ? '\n' : ' ');
  return typeof value === 'string' ? value : undefined;
}

/** The most characters of a command that are examined. The rest of a longer command is mostly a text that it writes. */
const MAX_COMMAND = 4_000;

const PURPOSES: readonly [Purpose, RegExp][] = [
  ['commit', /\bgit(?:\s+-\S{1,100}(?:\s+[^\s-]\S{0,200})?){0,5}\s+commit\b/],
  ['push', /\bgit(?:\s+-\S{1,100}(?:\s+[^\s-]\S{0,200})?){0,5}\s+push\b/],
  ['pull_request', /\b(?:gh\s+pr|glab\s+mr)\s+create\b/],
];

export function purposesOf(command: string): Purpose[] {
  const start = command.slice(0, MAX_COMMAND);
  const purposes = PURPOSES.flatMap(([purpose, pattern]) => (pattern.test(start) ? [purpose] : []));
  const commands = readShell(withoutShell(start));
  if (!commands.some(({ words }) => runsTests(words))) {
    return purposes.length === 0 && onlyShowsText(commands) ? ['reading'] : purposes;
  }
  const told = start === command ? toldByExit(commands, readShell(start)) : undefined;
  return [...purposes, 'tests', ...(told ? [told] : [])];
}

/** The purposes of a call that runs several commands. The call ends with one exit code at most, so it tells of none of them. */
export function purposesOfAll(commands: readonly string[]): Purpose[] {
  const [only] = commands;
  if (commands.length <= 1) return only === undefined ? [] : purposesOf(only);
  const all = commands.map(purposesOf);
  const isReading = all.every((purposes) => purposes.includes('reading'));
  const purposes = new Set(all.flat());
  for (const told of ['exit_of_tests', 'success_of_tests'] as const) purposes.delete(told);
  if (!isReading) purposes.delete('reading');
  return [...purposes];
}

const SHELL = /^\s*(?:\S{1,200}\/)?(?:ba|da|z)?sh\s+-\w{0,5}c\s+(?:(["'])([\s\S]*)\1\s*$)?/;

/** The command that a shell is told to run: `bash -lc 'npm test'` is `npm test`. */
export const withoutShell = (command: string): string => command.replace(SHELL, '$2');

const MESSAGE =
  /\bcommit\b[^\n;&|"']{0,200}?(?:\s-[a-zA-Z]{0,5}m|\s--message)[ =]{0,4}(?:"((?:[^"\\]|\\[\s\S]){1,2000})|'([^']{1,2000}))/g;
const HEREDOC = /^\$\(cat <<-?\s{0,4}['"]?\w{1,40}['"]?\s{0,40}\n/;

/** The subjects of a command's commits, if it contains them. After `git commit --quiet`, they appear nowhere else. */
export function subjectsOf(command: string): string[] {
  const messages = command.slice(0, MAX_COMMAND).matchAll(MESSAGE);
  const subjects = [...messages].map(([, double, single]) => (double ?? single ?? '').replace(HEREDOC, '').trim());
  return subjects.flatMap((message) => message.split('\n', 1)[0]?.slice(0, 300) || []).slice(0, MAX_COMMITS);
}

/**
 * The most characters that are examined at the start and the end of an output. They contain commits and the summaries of test
 * runners.
 */
const EXAMINED = 16_000;
const MAX_COMMITS = 20;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours split the texts to find
const COLOURS = /\u001b\[[0-9;]*m/g;
const COMMITTED = /^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] ([^\n]{0,300})/gm;
const PULL_REQUEST = /https:\/\/[^\s"'<>]{1,200}?\/(?:pull|merge_requests)\/\d{1,10}\b/;

export function outcomeOf(output: string): Outcome {
  const cut = output.length > 2 * EXAMINED;
  const looked = (cut ? `${output.slice(0, EXAMINED)}\n${output.slice(-EXAMINED)}` : output).replace(COLOURS, '');
  const commits = [...looked.matchAll(COMMITTED)]
    .slice(0, MAX_COMMITS)
    .map(([, hash, subject]) => ({ hash: hash as string, subject: (subject as string).trim() }));
  const pullRequest = PULL_REQUEST.exec(looked)?.[0];
  const testsPassed = readSummary(looked);
  return {
    ...(commits.length > 0 && { commits }),
    ...(pullRequest && { pullRequest }),
    ...(testsPassed !== undefined && { testsPassed }),
  };
}
