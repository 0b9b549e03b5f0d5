/** Programs that run another program, and the programs that only show texts. */

interface Runner {
  /** The number of words before the program, such as the name of a container. */
  skips?: number;
  /** Options whose value is a word of its own. */
  valued?: readonly string[];
}

const CONTAINER: Runner = {
  skips: 1,
  valued: ['-e', '--env', '-w', '--workdir', '-u', '--user', '-v', '--volume', '-p', '--name', '-c', '-n', '--network'],
};
const PACKAGE: Runner = {
  valued: ['-p', '--package', '-w', '--workspace', '-F', '--filter', '-C', '--dir', '--prefix'],
};
const PYTHON: Runner = { valued: ['-p', '--python', '--with', '--extra', '--group', '-n', '--name', '-e', '--env'] };

/** By program, or by program and subcommand. */
const RUNNERS: { readonly [program: string]: Runner } = {
  env: { valued: ['-u', '--unset', '-C', '--chdir'] },
  timeout: { skips: 1, valued: ['-k', '--kill-after', '-s', '--signal'] },
  gtimeout: { skips: 1, valued: ['-k', '-s'] },
  nice: { valued: ['-n'] },
  sudo: { valued: ['-u', '--user', '-g'] },
  'xvfb-run': { valued: ['-s', '-n', '--server-args'] },
  xargs: { valued: ['-n', '-P', '-I', '-L'] },
  ...Object.fromEntries(
    [
      'exec',
      'time',
      'nohup',
      'command',
      'builtin',
      'stdbuf',
      'setsid',
      'unbuffer',
      'caffeinate',
      'corepack',
      'uvx',
    ].map((program) => [program, {}]),
  ),
  ...Object.fromEntries(
    ['npx', 'bunx', 'pnpx', 'pnpm exec', 'pnpm dlx', 'yarn exec', 'yarn dlx', 'npm exec', 'npm x', 'bun x'].map(
      (program) => [program, PACKAGE],
    ),
  ),
  ...Object.fromEntries(
    ['uv run', 'poetry run', 'pipenv run', 'pdm run', 'rye run', 'conda run', 'micromamba run', 'coverage run'].map(
      (program) => [program, PYTHON],
    ),
  ),
  'bundle exec': {},
  'rbenv exec': {},
  'asdf exec': {},
  'mise exec': {},
  'mise x': {},
  'direnv exec': { skips: 1 },
  'doppler run': {},
  'dotenvx run': {},
  'nix develop': { valued: ['-c', '--command'] },
  ...Object.fromEntries(
    ['docker', 'podman', 'nerdctl', 'docker compose', 'docker-compose', 'podman compose'].flatMap((program) => [
      [`${program} exec`, CONTAINER],
      [`${program} run`, CONTAINER],
    ]),
  ),
  'kubectl exec': CONTAINER,
};
/** Options before a subcommand whose value is a word of its own. */
const BEFORE_SUBCOMMAND: ReadonlySet<string> = new Set([
  '-f',
  '--file',
  '-p',
  '--project-name',
  '-C',
  '--dir',
  '--cwd',
]);

/** The program that a simple command runs in the end, by its last name, and its arguments: `sudo npx jest` runs `jest`. */
export function programOf(words: readonly string[]): { program: string; path: string; args: readonly string[] } {
  let left = words;
  for (let step = 0; step < 8; step++) {
    const inner = unwrap(left);
    if (inner === undefined) break;
    left = inner;
  }
  const [path = '', ...args] = left;
  return { program: nameOf(path), path, args };
}

const nameOf = (path: string) => path.replace(/^.*[\\/]/, '').replace(/\.(?:exe|cmd|bat)$/i, '');

/** The words after a program that runs another one; undefined after any other program. */
function unwrap(words: readonly string[]): readonly string[] | undefined {
  const [path = '', ...args] = words;
  const program = nameOf(path);
  if (/^python[\d.]*$/.test(program)) return args[flagsOf(args)] === '-m' ? args.slice(flagsOf(args) + 1) : undefined;
  // A script, which the shell runs.
  if (/^(?:ba|da|z|k)?sh$/.test(program)) return args[0] !== undefined && !args[0].startsWith('-') ? args : undefined;
  const found = findRunner(program, args);
  if (!found) return undefined;
  const { skips = 0, valued = [] } = found.runner;
  let at = skipOptions(args, found.at, new Set(valued));
  if (skips > 0) at = skipOptions(args, at + skips, new Set());
  while (/^\w+=/.test(args[at] ?? '') || args[at] === '-m') at++;
  return at < args.length ? args.slice(at) : undefined;
}

/** `python -X dev -m pytest`: the flags before `-m`. */
function flagsOf(args: readonly string[]): number {
  let at = 0;
  while (args[at] !== '-m' && args[at]?.startsWith('-')) at += args[at] === '-X' || args[at] === '-W' ? 2 : 1;
  return at;
}

function findRunner(program: string, args: readonly string[]): { runner: Runner; at: number } | undefined {
  let name = program;
  let at = 0;
  for (let words = 0; words < 3; words++) {
    if (Object.hasOwn(RUNNERS, name)) return { runner: RUNNERS[name] as Runner, at };
    at = skipOptions(args, at, BEFORE_SUBCOMMAND);
    const subcommand = args[at];
    if (subcommand === undefined) return undefined;
    name += ` ${subcommand}`;
    at++;
  }
  return undefined;
}

/** @returns the index of the first word from `at` on that is neither an option nor the value of one */
export function skipOptions(args: readonly string[], at: number, valued: ReadonlySet<string>): number {
  let next = at;
  while (args[next]?.startsWith('-')) {
    const option = args[next] as string;
    next++;
    if (option === '--') break;
    if (valued.has(option)) next++;
  }
  return next;
}

/** Programs that show texts, or do small things in silence. A summary of tests in their output was written earlier. */
const SHOWS_TEXT: ReadonlySet<string> = new Set(
  [
    'cat tac nl head tail less more bat grep egrep fgrep rg ag ack zgrep zcat sed awk gawk jq yq cut sort uniq wc tr column',
    'fold fmt diff colordiff cmp comm paste join rev strings xxd od hexdump tee ls eza exa tree find fd stat file du df pwd',
    'echo printf date which whereis type whoami uname hostname ps pgrep lsof kill pkill sleep wait cd pushd popd export set',
    'unset source . true false : test [ [[ read return exit local declare for case esac fi done } in mkdir touch cp mv rm ln',
    'chmod basename dirname realpath readlink seq gh glab curl wget journalctl dmesg systemctl history',
  ].flatMap((names) => names.split(' ')),
);
/** Subcommands of git that may run a hook, and with it tests. */
const GIT_WITH_HOOKS: ReadonlySet<string> = new Set(
  'commit push merge rebase pull cherry-pick revert am bisect hook checkout switch'.split(' '),
);

/** Whether a simple command only shows texts, such as a file, a log or a diff. */
export function showsText(words: readonly string[]): boolean {
  const { program, args } = programOf(words);
  if (program === 'git') return !GIT_WITH_HOOKS.has(args[skipOptions(args, 0, GIT_VALUED)] ?? '');
  if (/^(?:docker|podman|docker-compose|kubectl|heroku|flyctl|fly)$/.test(program)) return args.includes('logs');
  return SHOWS_TEXT.has(program);
}

const GIT_VALUED: ReadonlySet<string> = new Set(['-C', '-c', '--git-dir', '--work-tree']);
