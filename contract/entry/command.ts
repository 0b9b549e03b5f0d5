import { asParsedObject } from './value.ts';

/**
 * The purpose of a command, if people remember sessions by it. `exit_of_tests`: its exit code is the result of the tests.
 * `success_of_tests`: the tests passed if it succeeds, but a failure may have another cause.
 */
export type Purpose = 'commit' | 'push' | 'pull_request' | 'tests' | 'exit_of_tests' | 'success_of_tests';

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
const LONGEST_COMMAND = 4_000;

const PURPOSES: readonly [Purpose, RegExp][] = [
  ['commit', /\bgit(?:\s+-\S{1,100}(?:\s+[^\s-]\S{0,200})?){0,5}\s+commit\b/],
  ['push', /\bgit(?:\s+-\S{1,100}(?:\s+[^\s-]\S{0,200})?){0,5}\s+push\b/],
  ['pull_request', /\b(?:gh\s+pr|glab\s+mr)\s+create\b/],
  ['tests', /(?<=^|[\s;&|(/'"])(?:vitest|jest|mocha|pytest|rspec|phpunit|ctest|py\.test|script\/test)(?=$|[\s;&|)'"])/],
  [
    'tests',
    /\b(?:npm|pnpm|yarn|bun|deno|cargo|go|mix|dotnet|make|swift|zig build|playwright|node --run)\s+(?:run\s+)?test\b/,
  ],
  ['tests', /\bnode\s[^\n;|&]{0,100}--test\b|\bunittest\b|\bcargo\s+nextest\b/],
  ['tests', /\b(?:mvn|gradle|gradlew|sbt|bazel|rake)\b[^\n;|&]{0,100}\s\S{0,60}test\b/],
];

export function purposesOf(command: string): Purpose[] {
  const start = command.slice(0, LONGEST_COMMAND);
  const purposes = new Set(PURPOSES.flatMap(([purpose, pattern]) => (pattern.test(start) ? [purpose] : [])));
  const told = purposes.has('tests') && start === command ? toldByExit(command) : undefined;
  return told ? [...purposes, told] : [...purposes];
}

const SHELL = /^\s*(?:\S{1,200}\/)?(?:ba|da|z)?sh\s+-\w{0,5}c\s+(?:(["'])([\s\S]*)\1\s*$)?/;
/** Also matches an unclosed quote: searching for its end repeatedly took 11 ms. */
const QUOTED_OR_COMMENT = /"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|(?<![^\s;&|()])#[^\n]*/g;
const SUBSTITUTED = /\$\([^()]*\)/g;
/** Texts that may precede the name of the program. */
const BEFORE =
  /^(?:[\s({]|\w+=\S*\s|(?:env|time|timeout|nice|sudo|exec|npx|bunx|(?:pnpm|yarn|bundle) exec|(?:uv|poetry|pipenv) run|python[\d.]* -m)(?:\s+(?:-\S+|\d\S*))*\s)+/;
const ONLY_TELLS = /\s--(?:version|help|collect-only|no-run|list\w*)\b/i;

/** `set -e`, alone or as an option of the shell: a failure before the tests then ends the command. */
const STOPS_EARLY = /(?:\bset|sh)\s+-\w{0,9}e/;
/** Commands that hardly ever fail. If a command starts with one of them, a failure comes from the tests after it. */
const PREPARES = /^(?:$|(?:cd|export|source|\.)\s)/;

/**
 * What the exit code says about tests. It says something only if the tests are in the last chain of commands and nothing hides
 * its result.
 */
function toldByExit(command: string): Purpose | undefined {
  const inside = withoutShell(command).replaceAll('\\\n', ' ');
  const plain = inside.replace(QUOTED_OR_COMMENT, (found) => (found.startsWith('#') ? '' : '""'));
  const bare = plain.replace(SUBSTITUTED, '""').trim();
  const last = bare.split(/[;\n]/).findLast((part) => part.trim() !== '') ?? '';
  const isHidden = /\||(?<![>&])&(?![>&])/.test(last);
  const programs = last.split('&&').map((simple) => simple.replace(BEFORE, ''));
  if (isHidden || !programs.some(runsTests)) return undefined;
  const isTheirs = programs.every((program) => PREPARES.test(program) || runsTests(program));
  return isTheirs && !STOPS_EARLY.test(command) ? 'exit_of_tests' : 'success_of_tests';
}

function runsTests(program: string): boolean {
  const isFirst = (at: number) => !/\s/.test(program.slice(0, at));
  const isRunner = PURPOSES.some(([purpose, run]) => {
    const found = purpose === 'tests' ? run.exec(program) : null;
    return found && isFirst(found.index);
  });
  return isRunner && !ONLY_TELLS.test(program);
}

/** The command that a shell is told to run: `bash -lc 'npm test'` is `npm test`. */
export const withoutShell = (command: string): string => command.replace(SHELL, '$2');

const MESSAGE =
  /\bcommit\b[^\n;&|"']{0,200}?(?:\s-[a-zA-Z]{0,5}m|\s--message)[ =]{0,4}(?:"((?:[^"\\]|\\[\s\S]){1,2000})|'([^']{1,2000}))/g;
const HEREDOC = /^\$\(cat <<-?\s{0,4}['"]?\w{1,40}['"]?\s{0,40}\n/;

/** The subjects of a command's commits, if it contains them. After `git commit --quiet`, they appear nowhere else. */
export function subjectsOf(command: string): string[] {
  const messages = command.slice(0, LONGEST_COMMAND).matchAll(MESSAGE);
  const subjects = [...messages].map(([, double, single]) => (double ?? single ?? '').replace(HEREDOC, '').trim());
  return subjects.flatMap((message) => message.split('\n', 1)[0]?.slice(0, 300) || []).slice(0, MOST_COMMITS);
}

/**
 * The most characters that are examined at the start and the end of an output. They contain commits and the summaries of test
 * runners.
 */
const EXAMINED = 16_000;
const MOST_COMMITS = 20;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours split the texts to find
const COLOURS = /\u001b\[[0-9;]*m/g;
const COMMITTED = /^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] ([^\n]{0,300})/gm;
const PULL_REQUEST = /https:\/\/[^\s"'<>]{1,200}?\/(?:pull|merge_requests)\/\d{1,10}\b/;
const FAILED = [
  /\bTests:?[ \t][^\n]{0,80}\b[1-9]\d* failed/,
  /^=+ [^\n]{0,120}\b[1-9]\d* (?:failed|errors?)\b/m,
  /^test result: FAILED/m,
  /^(?:--- FAIL|FAIL\t)/m,
  /^(?:#|ℹ) fail [1-9]/m,
  /^\s{0,8}[1-9]\d* failing/m,
  /\bexamples?, [1-9]\d* failures?/,
  /^FAILED \((?:failures|errors)=/m,
  /^Failed! {1,4}- Failed:/m,
];
const PASSED = [
  /\bTests:?[ \t][^\n]{0,80}\b\d+ passed/,
  /^=+ [^\n]{0,120}\b\d+ passed/m,
  /^test result: ok/m,
  /^ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))/m,
  /^(?:#|ℹ) fail 0$/m,
  /^\s{0,8}\d+ passing/m,
  /\bexamples?, 0 failures/,
  /^Ran \d+ tests? in [^\n]{1,30}\n\nOK\b/m,
  /^Passed! {1,4}- Failed:/m,
];

export function outcomeOf(output: string): Outcome {
  const cut = output.length > 2 * EXAMINED;
  const looked = (cut ? `${output.slice(0, EXAMINED)}\n${output.slice(-EXAMINED)}` : output).replace(COLOURS, '');
  const commits = [...looked.matchAll(COMMITTED)]
    .slice(0, MOST_COMMITS)
    .map(([, hash, subject]) => ({ hash: hash as string, subject: (subject as string).trim() }));
  const pullRequest = PULL_REQUEST.exec(looked)?.[0];
  const failed = FAILED.some((pattern) => pattern.test(looked));
  const testsPassed = failed ? false : PASSED.some((pattern) => pattern.test(looked)) || undefined;
  return {
    ...(commits.length > 0 && { commits }),
    ...(pullRequest && { pullRequest }),
    ...(testsPassed !== undefined && { testsPassed }),
  };
}
