import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onboardingBySecret, rehearsal } from '../../contract/onboarding.ts';
import type { Command } from '../command.ts';
import { COMMANDS } from '../commands/all.ts';

const ROOT = join(import.meta.dirname, '../..');
const ADDRESS = 'http://127.0.0.1:4400';

/** Everything that people read: pages, messages and documents. */
const READ = [
  'cli',
  'contract',
  'dashboard',
  'deploy',
  'docs',
  'redact',
  'server',
  'transcript',
  'CHANGELOG.md',
  'README.md',
];

/** Commands without an entry in the table, and options that every command has. */
const FURTHER = new Set(['help', 'completion', 'version']);
/** Words after the name of the program in sentences about it. */
const PROSE = new Set('again cannot is it needs nothing runs was what while will'.split(' '));
const EVERYWHERE = new Set(['--json', '--quiet', '--help', '--version']);

const files = READ.flatMap((name) => {
  if (name.endsWith('.md')) return [name];
  return readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' }).map((path) => join(name, path));
}).filter(
  (path) => /\.(md|tsx?|sh|yaml|html)$/.test(path) && !/node_modules|[./]test[./]|fixtures|e2e\/|dist\//.test(path),
);

/** What comes before the name of the program if it is a command to run, and not the word "capture". */
const CALL = /(?:^ {4}|[`'"(]|<code>|&& |; |→ |\$ |\b[Rr]un )capture +([a-z]+)([^`'"<\n]*)/gm;

interface Named {
  file: string;
  call: string;
  name: string;
  rest: string;
}

const findCalls = (file: string, text: string): Named[] =>
  [...text.matchAll(CALL)].map(([call, name = '', rest = '']) => ({ file, call, name, rest }));

/** The problem with a command that a text names, or undefined. */
function findProblem({ name, rest }: Named): string | undefined {
  if (FURTHER.has(name) || PROSE.has(name)) return undefined;
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) return `there is no command ${name}`;
  // The words after a separator belong to another program, or are a comment.
  const [own = ''] = rest.split(/ -- | ?&&|;| \||\s#|\s{3}/);
  const known = new Set(
    commandsOf(command).flatMap(({ takes = {} }) =>
      Object.values(takes).flatMap(({ flags }) => flags.match(/--[a-z-]+|-[a-z]\b/g) ?? []),
    ),
  );
  const unknown = (own.match(/(?<=\s|\[)--[a-z][a-z-]*/g) ?? []).find(
    (option) => !known.has(option) && !EVERYWHERE.has(option),
  );
  return unknown === undefined ? undefined : `${name} has no option ${unknown}`;
}

const commandsOf = (command: Command): Command[] => [command, ...(command.commands ?? [])];

test('every command that a page, a message or a document names exists with its options', () => {
  const lines = [...onboardingBySecret(ADDRESS).flatMap(({ commands }) => commands), rehearsal(ADDRESS)];
  const told = lines.map((line) => line.replace(/\S*capture\.tgz/, '`capture'));
  const named = [
    ...files.flatMap((file) => findCalls(file, readFileSync(join(ROOT, file), 'utf8'))),
    ...told.flatMap((line) => findCalls('contract/onboarding.ts', `    ${line}`)),
  ];
  expect(named.length).toBeGreaterThan(300);
  const names = new Set(named.map(({ name }) => name));
  expect(COMMANDS.filter(({ name }) => !names.has(name))).toEqual([]);
  const problems = named.flatMap((each) => {
    const problem = findProblem(each);
    return problem === undefined ? [] : [`${each.file}: ${problem}: ${each.call.trim()}`];
  });
  expect(problems).toEqual([]);
});
