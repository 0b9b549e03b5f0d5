import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { write } from '../../test/folder.ts';
import { describeProgram } from '../shape.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

/** Every kind of thing there is to complete, with the characters that a shell may stumble over. */
function createExample(): Command {
  const program = new Command('capture').version('1').option('--json', "the answer's [form]: `JSON` for $HOME");
  const get = program.command('get').summary("it's: a summary").argument('[PATH...]', 'files');
  get
    .option('--agent <id>', 'only this agent')
    .option('--into <folder>', 'where to')
    .option('-n, --number <count>', 'n');
  const spool = program.command('spool').summary('what waits');
  spool.command('list').option('--long', 'all of it');
  spool.command('drop').argument('<SESSION>');
  program.command('secret', { hidden: true });
  return program;
}

interface Case {
  line: string;
  offers: string[];
}

const CASES: Case[] = [
  { line: 'capture ', offers: ['get', 'help', 'spool'] },
  { line: 'capture sp', offers: ['spool'] },
  { line: 'capture --j', offers: ['--json'] },
  { line: 'capture spool ', offers: ['drop', 'help', 'list'] },
  { line: 'capture --json spool li', offers: ['list'] },
  { line: 'capture spool list --l', offers: ['--long'] },
  { line: 'capture spool drop ', offers: [] },
  { line: 'capture get --agent c', offers: ['claude-code', 'codex'] },
  { line: 'capture get --agent=cl', offers: ['claude-code'] },
  { line: 'capture get --agent codex --n', offers: ['--number'] },
  { line: 'capture get --number ', offers: [] },
  { line: 'capture get some', offers: ['some file', 'somewhere'] },
  { line: 'capture get --into some', offers: ['somewhere'] },
];

const shape = describeProgram(createExample(), [{ id: 'claude-code' }, { id: 'codex' }, { id: 'codex' }, { id: 'pi' }]);

/** How each shell says what it offers for a line: one candidate a line. */
const SHELLS: { [name: string]: { script: string; ask: (line: string) => string[] } } = {
  bash: {
    script: bashCompletion(shape),
    // Words as bash itself cuts them.
    ask: (line) => ['-c', ASK_BASH, 'bash', ...(line.match(/=|[^\s=]+|(?<=\s)$/g) ?? [])],
  },
  zsh: { script: zshCompletion(shape), ask: (line) => ['-f', '-c', ASK_ZSH, 'zsh', line] },
  fish: { script: fishCompletion(shape), ask: (line) => ['--no-config', '-c', `source script; complete -C '${line}'`] },
};

const ASK_BASH = `source ./script
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _capture
  printf '%s\\n' "\${COMPREPLY[@]}"`;

/** Types the line into a zsh on a terminal of its own, in which what is offered is printed between two marks. */
const ASK_ZSH = `zmodload zsh/zpty
  zpty inner zsh -f -i
  zpty -w inner "source ./inner"
  zpty -r -m inner input '*READY*'
  zpty -n -w inner "$1"$'\\t'
  zpty -r -m inner output '*DONE*'
  print -r -- "\${output}"`;

const INNER_ZSH = `PROMPT=
  autoload -Uz compinit && compinit -u -d ./dump
  source ./script
  compadd() {
    case " \${@[1,(i)(-|--)]} " in *' -'[OAD]' '*) builtin compadd "$@"; return ;; esac
    local -a found; builtin compadd -A found "$@"
    (( $#found )) && print -rl -- "OFFER "$^found
    builtin compadd "$@"
  }
  finish() { print DONE; exit }
  comppostfuncs=(finish)
  bindkey '^I' complete-word
  print READ''Y
`;

/** `script/test` installs what is missing where it may, and else says that it was skipped. */
const present = Object.entries(SHELLS).filter(([shell]) => spawnSync(shell, ['-c', 'true']).error === undefined);

describe.each(present)('completion in %s', (shell, { script, ask }) => {
  const folder = mkdtempSync(join(tmpdir(), 'capture-completion-'));
  beforeAll(() => {
    for (const [name, text] of Object.entries({ script, inner: INNER_ZSH, 'some file': '' }))
      write(join(folder, name), text);
    mkdirSync(join(folder, 'somewhere'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.for(CASES)('offers $offers for “$line”', ({ line, offers }) => {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, TERM: 'dumb' };
    const output = execFileSync(shell, ask(line), { cwd: folder, env, encoding: 'utf8' });
    expect(readOffers(shell, output)).toEqual(offers);
  });
});

function readOffers(shell: string, output: string): string[] {
  const lines = output.split(/\r?\n/).filter((line) => line !== '');
  const offered = shell === 'zsh' ? lines.flatMap((line) => line.match(/OFFER (.*)/)?.[1] ?? []) : lines;
  // fish puts a description behind a tabulator and an option before its value, zsh offers a folder in two groups; whether
  // there is a slash behind a folder is a matter of the shell.
  const plain = offered.map((line) =>
    line
      .replace(/\t.*/, '')
      .replace(/^--\w+=/, '')
      .replaceAll('\\ ', ' ')
      .replace(/\/$/, ''),
  );
  return [...new Set(plain)].sort();
}
