import { defineCommand } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { stopDaemon } from '../daemon/control.ts';
import type { Output } from '../output.ts';

export const stopCommand = defineCommand({
  name: 'stop',
  summary: 'end the daemon',
  description:
    'Ends `capture run`, however it was started, and waits for it. What the agents write meanwhile is captured when it ' +
    'runs again. It does not keep it from being started at the next sign-in: that is `capture uninstall`.',
  examples: [['capture stop', 'until `capture restart`']],
  run: runStop,
});

async function runStop(context: Context, _options: object, output: Output): Promise<void> {
  const stopped = await stopDaemon(stateFolder(context));
  output.answer({ stopped, running: false }, [
    stopped ? 'The daemon has ended. `capture restart` starts it again.' : 'The daemon did not run.',
  ]);
}
