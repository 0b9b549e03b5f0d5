import completions from '@bomb.sh/tab';
import addTo from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/** `capture completion bash` and its like; the script that they print asks the program for the words. */
export function addCompletion(program: Command): void {
  addTo(program, { completionCommandName: 'completion' });
  // Shell directive 0: where no word of ours fits, the shell completes a path. The library would have nothing offered.
  Object.defineProperty(completions, 'directive', { get: () => 0, set() {} });
}
