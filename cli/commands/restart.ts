import { defineCommand } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { holderOf, stopDaemon } from '../daemon/control.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { restartDaemon } from '../setup/daemon.ts';

export const restartCommand = defineCommand({
  name: 'restart',
  summary: 'end the daemon and start it anew',
  description: 'Starts `capture run` anew, as after an update: by the service manager, where `capture init` set it up.',
  examples: [['capture restart', 'also where none runs']],
  run: runRestart,
});

async function runRestart(context: Context, _options: object, output: Output): Promise<void> {
  const folder = stateFolder(context);
  const stopped = await stopDaemon(folder);
  await restartDaemon(context);
  const holder = holderOf(folder);
  if (holder === undefined) {
    throw new Failure(EXIT.failure, 'The daemon did not start.', '`capture run` says why.');
  }
  output.answer({ stopped, running: true, pid: holder.pid }, [
    `The daemon runs${stopped ? ' anew' : ''}, as process ${holder.pid}.`,
  ]);
}
