import { defineCommand } from '../command.ts';
import { VERSION } from '../version.ts';

export const versionCommand = defineCommand({
  name: 'version',
  summary: 'print the version',
  description: 'Prints the version of capture, as --version does.',
  examples: [['capture version --json', 'for programs']],
  run: async (_context, _values, output) => output.answer({ version: VERSION }, [VERSION]),
});
