import { expect, test } from 'vitest';
import { COMMANDS, runCommand } from '../commands.ts';

const config = () => {
  throw new Error('the configuration was read');
};

async function linesOf(words: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  await runCommand(words, config, (line) => void lines.push(line));
  return lines;
}

test.each(['help', '--help', '-h'])(
  '%s lists every command of the operator with its options, without a configuration',
  async (word) => {
    const lines = await linesOf([word]);
    expect(lines).toHaveLength(Object.keys(COMMANDS).length);
    for (const name of Object.keys(COMMANDS)) expect(lines.join('\n')).toContain(name);
    expect(lines).toContain('restore FILE [--check] [--key KEY]');
  },
);

test('an unknown command is refused with the way to list all of them', async () => {
  await expect(linesOf(['back', 'up'])).rejects.toThrow('`back up` is not a command. `help` lists the commands.');
});
