import { rmSync } from 'node:fs';
import { defineCommand } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { isDaemonRunning } from '../daemon/control.ts';
import { isPaused, pausedPath } from '../daemon/pause.ts';
import type { Output } from '../output.ts';

export const resumeCommand = defineCommand({
  name: 'resume',
  summary: 'end a pause',
  description: 'Has the daemon go on. It notices within two seconds, and captures what was written meanwhile.',
  examples: [['capture resume', 'ends `capture pause`']],
  run: runResume,
});

export async function runResume(context: Context, _options: object, output: Output): Promise<void> {
  const folder = stateFolder(context);
  const wasPaused = isPaused(folder, context.now());
  rmSync(pausedPath(folder), { force: true });
  const running = isDaemonRunning(folder);
  output.answer({ paused: false, wasPaused, running }, [
    wasPaused ? 'The pause is over.' : 'Capture was not paused.',
    ...(running ? [] : ['The daemon does not run: `capture run` starts it.']),
  ]);
}
