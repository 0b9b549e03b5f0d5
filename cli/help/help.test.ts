import { expect, test } from 'vitest';
import { makeFolder } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { type CommandShape, flatten } from './shape.ts';
import { TOPICS } from './topics.ts';

/** The program's own definitions, as a script would ask for them. */
async function readCommands(): Promise<CommandShape[]> {
  const { stdout } = await run(['help', '--json'], { home: makeFolder() });
  return flatten(JSON.parse(stdout) as CommandShape);
}

test('every command has a summary, and examples that it would take', async () => {
  const commands = await readCommands();
  for (const { path, summary, examples, commands: inner } of commands.filter((command) => command.path.length > 0)) {
    const name = path.join(' ');
    expect(summary, name).not.toBe('');
    if (inner.length === 0) expect(examples, name).not.toEqual([]);
    for (const [line] of examples) expect(findMistake(line, commands), line).toBeUndefined();
  }
});

test('an example that is not true is told', async () => {
  const commands = await readCommands();
  expect(findMistake('capture import --dry-run', commands)).toBeUndefined();
  expect(findMistake('capture import --dry', commands)).toBe('--dry');
  expect(findMistake('capture fetch', commands)).toBe('fetch');
});

/** The first word of an example's call of capture that is neither a command nor one of its options. */
function findMistake(line: string, commands: readonly CommandShape[]): string | undefined {
  const words = /capture (.*?)(?:[|<>)]|$)/.exec(line)?.[1]?.trim().split(' ') ?? [line];
  const command = commands.findLast(({ path }) => path.every((word, index) => word === words[index]));
  if (command === undefined || command.path.length === 0) return words[0];
  const known = command.options.flatMap(({ names }) => names);
  return words.find((word) => /^-./.test(word) && !known.includes(word));
}

test.each(TOPICS)('there is help about $name', async ({ name }) => {
  const { exitCode, stdout, stderr } = await run(['help', name], { home: makeFolder() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.length).toBeGreaterThan(200);
  // What has no blank in it cannot be broken; code stands as it is.
  for (const line of stdout.split('\n').filter((text) => !text.startsWith('    ')))
    expect(line.length).toBeLessThan(81);
});

test('help of a command is what its --help says, and there is none of what is not there', async () => {
  const home = makeFolder();
  const asked = await run(['help', 'import'], { home });
  expect(asked.stdout).toMatch(
    /^Examples:\n {2}capture import .*\n.*Usage: capture import \[options\] \[PATH\.\.\.\]/s,
  );
  expect(asked).toEqual(await run(['import', '--help'], { home }));
  expect(await run(['help', 'imports'], { home })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^error: There is no help about imports\.\nhint: Topics: agents, /),
  });
});

test('the manual page has every command, option, topic and exit code', async () => {
  const { stdout } = await run(['help', '--man'], { home: makeFolder() });
  const plain = stdout.replaceAll('\\-', '-');
  for (const { path, options } of await readCommands()) {
    if (path.length > 0) expect(plain).toContain(`\n.SS capture ${path.join(' ')}\n`);
    for (const { flags } of options) expect(plain).toContain(`\n.B ${flags}\n`);
  }
  for (const [code] of EXIT_CODES) expect(plain).toContain(`\n.B ${code}\n`);
  for (const heading of ['ENVIRONMENT', 'EXIT STATUS', 'FILES', 'PRIVACY'])
    expect(plain).toContain(`\n.SH ${heading}\n`);
  // A line of text that begins like a request would vanish.
  for (const line of stdout.split('\n')) expect(line).toMatch(/^(?:\.(?:TH|SH|SS|B|PP|TP|RS|RE|nf|fi)\b|[^.'])|^$/);
});
