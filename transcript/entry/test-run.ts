import { programOf, showsText, skipOptions } from './program.ts';
import type { SimpleCommand } from './shell.ts';

/*
 * Tests are recognised in two ways: by the summary that a test runner prints, whichever command started it, and by the command,
 * whose exit code is then the result.
 */

/** Programs that do nothing else than run tests. */
const ALWAYS: ReadonlySet<string> = new Set(
  [
    'vitest jest mocha ava tap pytest py.test nose2 nosetests unittest trial tox nox behave rspec minitest cucumber phpunit',
    'paratest pest codecept ctest gotestsum ginkgo bats busted prove karma testcafe elm-test wtr web-test-runner',
  ].flatMap((names) => names.split(' ')),
);

/** The subcommands with which other programs run tests. */
const SUBCOMMANDS: { readonly [program: string]: RegExp } = {
  go: /^test$/,
  cargo: /^(?:test|t|nextest)$/,
  mix: /^test$/,
  dotnet: /^(?:test|vstest)$/,
  swift: /^test$/,
  zig: /^test$/,
  deno: /^test$/,
  dart: /^test$/,
  flutter: /^(?:test|drive)$/,
  ng: /^(?:test|e2e)$/,
  hatch: /^test$/,
  stack: /^test$/,
  cabal: /^(?:test|v2-test)$/,
  lein: /^test$/,
  crystal: /^spec$/,
  playwright: /^test$/,
  cypress: /^run$/,
  'react-scripts': /^test$/,
  'vue-cli-service': /^test:/,
  forge: /^test$/,
  hardhat: /^test$/,
  truffle: /^test$/,
  meson: /^test$/,
  rails: /^test(?::|$)/,
  artisan: /^test$/,
  sail: /^test$/,
  'manage.py': /^test$/,
  'django-admin': /^test$/,
  'setup.py': /^test$/,
};

/** Programs that run the tasks of a project, by name. */
const TASK_RUNNERS: ReadonlySet<string> = new Set(
  [
    'npm pnpm yarn bun deno make gmake just task go-task mise nx turbo lerna rush moon rake rails composer gulp grunt ant',
    'invoke inv poe nox hatch wireit lage devbox zig sail',
  ].flatMap((names) => names.split(' ')),
);
const VERBS: ReadonlySet<string> = new Set(
  ['run run-script rum r recursive task tasks workspaces foreach affected run-many build dev x'].flatMap((names) =>
    names.split(' '),
  ),
);
/** A task for tests has a name such as `test`, `test:ci`, `unit-test` or `e2e`. */
const TASK = /^(?:tests?|tst|e2e)(?:[:._-]|$)|[\w:._-][:._-](?:tests?|e2e)$/;
const SHORT: { readonly [program: string]: string } = { npm: 't', pnpm: 't' };

/** Build tools, where any of several tasks may be tests: `gradle clean :app:test`. */
const BUILDERS = /^(?:mvnw?|gradlew?|sbt|bazel(?:isk)?|buck2?|rake|xcodebuild|nx|turbo)$/;
const BUILDS_TESTS = /test(?:s|Only|Quick)?$/i;

/** Options before a subcommand whose value is a word of its own. */
const VALUED: ReadonlySet<string> = new Set(
  [
    '-C -w -F -f -X -W -I -d --workspace --prefix --filter --dir --cwd --project --scope --directory --file --makefile',
    '--profile --manifest-path --package',
  ].flatMap((names) => names.split(' ')),
);
const ONLY_TELLS = /^--(?:version|help|collect-only|no-run|list\w*)$/i;

/** Whether a simple command runs tests. */
export function runsTests(words: readonly string[]): boolean {
  const { program, path, args } = programOf(words);
  if (args.some((word) => ONLY_TELLS.test(word))) return false;
  if (ALWAYS.has(program) || isTestScript(path)) return true;
  if (program === 'node') return runsNodeTests(args);
  if (/^(?:python[\d.]*|php|ruby)$/.test(program)) return runsScriptTests(args);
  // `cargo +nightly test`, and `pnpm -w test`, where `-w` has no value.
  const rest = args.filter((word) => !word.startsWith('+') && !(program === 'pnpm' && word === '-w'));
  const at = skipOptions(rest, 0, VALUED);
  const subcommand = Object.hasOwn(SUBCOMMANDS, program) && SUBCOMMANDS[program]?.test(rest[at] ?? '');
  if (subcommand || (TASK_RUNNERS.has(program) && runsTask(program, rest.slice(at)))) return true;
  return BUILDERS.test(program) && rest.slice(at).some((word) => BUILDS_TESTS.test(word));
}

/** `script/test`, `./run-tests.sh`: a path, because `test` alone is a condition of the shell. */
const isTestScript = (path: string) => /[\\/](?:run[-_])?tests?(?:\.(?:sh|py|rb|mjs|js|ts))?$/.test(path);

function runsNodeTests(args: readonly string[]): boolean {
  if (args.includes('--test')) return true;
  const at = args.indexOf('--run');
  const task = at < 0 ? args.find((word) => word.startsWith('--run='))?.slice('--run='.length) : args[at + 1];
  return task !== undefined && TASK.test(task);
}

/** `python manage.py test`, `php artisan test`, `ruby -Itest test/cart_test.rb` */
function runsScriptTests(args: readonly string[]): boolean {
  const at = skipOptions(args, 0, VALUED);
  const [script = '', ...rest] = args.slice(at);
  const name = script.replace(/^.*[\\/]/, '');
  if (ALWAYS.has(name) || /_(?:test|spec)\.rb$/.test(name)) return true;
  return Object.hasOwn(SUBCOMMANDS, name) && SUBCOMMANDS[name]?.test(rest[0] ?? '') === true;
}

function runsTask(program: string, args: readonly string[]): boolean {
  let at = 0;
  while (at < args.length) {
    const word = args[at] as string;
    if (word === 'workspace') at += 2;
    else if (VERBS.has(word)) at++;
    else if (word.startsWith('-')) at = skipOptions(args, at, VALUED);
    else break;
  }
  const task = args[at];
  if (task !== undefined) return TASK.test(task) || task === SHORT[program];
  // `nx affected -t test`, `nx run-many --target=test`
  return args.some(
    (word, index) => /^--targets?=.*test|^-t$|^--targets?$/.test(word) && TASK.test(args[index + 1] ?? 'test'),
  );
}

/** How much the exit code of a command says about its tests; undefined if it says nothing. */
export type Told = 'exit_of_tests' | 'success_of_tests';

/** Commands that hardly ever fail. If a command starts with one of them, a failure comes from the tests after it. */
const PREPARES: ReadonlySet<string> = new Set(['cd', 'export', 'source', '.']);

/**
 * The exit code says something only if the tests are in the last chain of commands, and nothing hides their result.
 * @param whole the same commands, with the shell that runs them
 */
export function toldByExit(commands: readonly SimpleCommand[], whole: readonly SimpleCommand[]): Told | undefined {
  const outer = commands.filter(({ isInner }) => !isInner);
  const from = outer.slice(0, -1).findLastIndex(({ next }) => next === ';') + 1;
  const last = outer.slice(from);
  const isHidden = last.some(({ next, isNegated }) => isNegated || next === '||' || next === '|' || next === '&');
  if (isHidden || !last.some(({ words }) => runsTests(words))) return undefined;
  const isTheirs = last.every(({ words }) => PREPARES.has(words[0] ?? '') || runsTests(words));
  return isTheirs && !whole.some(stopsEarly) ? 'exit_of_tests' : 'success_of_tests';
}

/** `set -e`, alone or as an option of the shell: a failure before the tests then ends the command. */
const stopsEarly = ({ words: [program = '', ...args] }: SimpleCommand): boolean =>
  /^(?:set|(?:\S*\/)?(?:ba|da|z)?sh)$/.test(program) && args.some((word) => /^-[a-z]*e/.test(word));

/** Whether all its programs only show texts, such as a log with the summary of an earlier run. */
export const onlyShowsText = (commands: readonly SimpleCommand[]): boolean =>
  commands.length > 0 && commands.every(({ words }) => showsText(words));
