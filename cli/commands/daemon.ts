import { defineCommand } from '../command.ts';
import { stateFolder } from '../config.ts';
import { holderOf, stopDaemon } from '../daemon/control.ts';
import { runDaemon } from '../daemon/daemon.ts';
import { EXIT, Failure } from '../failure.ts';
import { ownPlaces } from '../read/places.ts';
import { restartDaemon } from '../setup/daemon.ts';
import { refuseOpenFolder } from '../setup/state-folder.ts';

export const runCommand = defineCommand({
  name: 'run',
  summary: 'capture while the agents work',
  description: 'Captures what the agents write, as they write it, until it is told to stop. Runs in the foreground.',
  examples: [['capture run', 'until Ctrl-C']],
  run(context, _values, output) {
    refuseOpenFolder(context);
    return runDaemon(context, { places: ownPlaces(context) }, output);
  },
});

export const stopCommand = defineCommand({
  name: 'stop',
  summary: 'end the daemon',
  description:
    'Ends `capture run`, however it was started, and waits for it. What the agents write meanwhile is captured when it ' +
    'runs again; to leave a session out for good, see `capture skip`. It does not keep it from being started at the next sign-in: that is `capture uninstall`.',
  examples: [['capture stop', 'until `capture restart`']],
  async run(context, _values, output) {
    const stopped = await stopDaemon(stateFolder(context));
    output.answer({ stopped, running: false }, [
      stopped ? 'The daemon has ended. `capture restart` starts it again.' : 'The daemon did not run.',
    ]);
  },
});

export const restartCommand = defineCommand({
  name: 'restart',
  summary: 'end the daemon and start it anew',
  description: 'Starts `capture run` anew, as after an update: by the service manager, where `capture init` set it up.',
  examples: [['capture restart', 'also where none runs']],
  async run(context, _values, output) {
    const state = stateFolder(context);
    const stopped = await stopDaemon(state);
    await restartDaemon(context);
    const holder = holderOf(state);
    if (holder === undefined) {
      throw new Failure(EXIT.failure, 'The daemon did not start.', '`capture run` says why.');
    }
    output.answer({ stopped, running: true, pid: holder.pid }, [
      `The daemon runs${stopped ? ' anew' : ''}, as process ${holder.pid}.`,
    ]);
  },
});
