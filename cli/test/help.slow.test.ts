import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Command } from '../command.ts';
import { COMMANDS } from '../commands/all.ts';
import { VERSION } from '../version.ts';
import { makeFolder } from './folder.ts';
import { run } from './program.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');
const leaves = (commands: readonly Command[], path: string[] = []): { path: string[]; command: Command }[] =>
  commands.flatMap((command) => [
    { path: [...path, command.name], command },
    ...leaves(command.commands ?? [], [...path, command.name]),
  ]);

test.each(leaves(COMMANDS))(
  'the help of $path lists --json and only examples with known options',
  async ({ path, command }) => {
    const home = makeFolder();
    const { exitCode, stdout, stderr } = await run([...path, '--help'], { home });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(await run(['help', ...path.slice(0, 1)], { home })).toMatchObject({ exitCode: 0 });
    expect(stdout).toMatch(/^Examples:\n {2}.*\n.*--json.*--quiet/s);
    for (const [line] of command.examples) {
      const words = /capture (.*?)(?:[|<>)]|$)/.exec(line)?.[1]?.trim().split(' ') ?? [];
      const options = words.filter((word) => /^-./.test(word));
      for (const option of options) expect(stdout, line).toContain(option);
    }
  },
);

test('capture without a command, and a group without a subcommand, print their help', async () => {
  const home = makeFolder();
  const alone = await run([], { home });
  expect(alone).toMatchObject({ exitCode: 0, stderr: '' });
  expect(alone).toEqual(await run(['--help'], { home }));
  for (const name of ['CAPTURE_SECRET', 'NO_COLOR', '75']) expect(alone.stdout).toContain(name);
  expect(await run(['spool'], { home })).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('drop') });
  expect((await run(['--version'], { home })).stdout).toBe(`${VERSION}\n`);
});

test('an invalid command line prints an error with a hint, with --json as an object', async () => {
  const home = makeFolder();
  expect(await run(['statsu'], { home })).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: "error: unknown command 'statsu'\nhint: Did you mean status?\n",
  });
  for (const [word, command] of [
    ['doctor', 'capture status'],
    ['whoami', 'capture status'],
    ['logs', 'capture status --log'],
  ] as const) {
    expect((await run([word], { home })).stderr).toContain(`\nhint: \`${command}\` shows it.\n`);
  }
  for (const [word, command] of [
    ['wandering', ''],
    ['exec', 'exec '],
  ] as const) {
    expect((await run([word], { home })).stderr).toContain(`\nhint: See \`capture ${command}--help\`.\n`);
  }
  expect(await run(['help', '--json'], { home })).toMatchObject({ exitCode: 0 });
  expect(await run(['help', 'statsu'], { home })).toMatchObject({ exitCode: 2 });
  for (const args of [['foo'], ['status', 'extra'], ['import', '--dry']]) {
    const { exitCode, stdout, stderr } = await run([...args, '--json'], { home });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: expect.any(String), exitCode: 2 });
  }
});

test.each([
  [['sta'], /^status\t/m],
  [['import', '--ag'], /^--agent\t/m],
  [['import', '--agent', 'cod'], /^codex\t/m],
  [['status', '--js'], /^--json\t/m],
  [['spool', 'dr'], /^drop\t/m],
])('shell completion of %j gives candidates', (words, answer) => {
  const stdout = execFileSync(process.execPath, [MAIN, 'complete', '--', ...words], { encoding: 'utf8' });
  expect(stdout).toMatch(answer);
  // Directive 0: if no candidate matches, the shell completes a path.
  expect(stdout).toMatch(/^:0$/m);
});

test.each(['bash', 'zsh', 'fish', 'powershell'])('there is a completion script for %s', (shell) => {
  const script = execFileSync(process.execPath, [MAIN, 'completion', shell], { encoding: 'utf8' });
  expect(script).toMatch(/capture complete '?--/);
});
