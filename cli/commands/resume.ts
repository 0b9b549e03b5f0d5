import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { isPaused, pausedPath } from '../daemon/pause.ts';
import { withExamples } from '../help/examples.ts';
import { isLocked } from '../lock.ts';
import type { Output } from '../output.ts';

export function addResume(program: Command, run: (options: object) => Promise<void>): void {
  withExamples(program.command('resume'), [['capture resume', 'ends `capture pause`']])
    .summary('end a pause')
    .description('Has the daemon go on. It notices within two seconds, and captures what was written meanwhile.')
    .action(run);
}

export async function runResume(context: Context, _options: object, output: Output): Promise<void> {
  const folder = stateFolder(context);
  const wasPaused = isPaused(folder, context.now());
  rmSync(pausedPath(folder), { force: true });
  const running = isLocked(folder, 'run');
  output.answer({ paused: false, wasPaused, running }, [
    wasPaused ? 'The pause is over.' : 'Capture was not paused.',
    ...(running ? [] : ['The daemon does not run: `capture run` starts it.']),
  ]);
}
