import { defineCommand } from '../command.ts';
import { stateFolder } from '../config.ts';
import { findDaemon, stopDaemon } from '../daemon/control.ts';
import { runDaemon } from '../daemon/daemon.ts';
import { EXIT, Failure } from '../failure.ts';
import { createStateReport } from '../inspect/report.ts';
import { ownPlaces } from '../read/places.ts';
import { restartDaemon } from '../setup/daemon.ts';
import { refuseOpenFolder } from '../setup/state-folder.ts';

export const runCommand = defineCommand({
  name: 'run',
  summary: 'capture while the agents work',
  description: 'Captures sessions while agents write them, in the foreground, until you stop it.',
  examples: [['capture run', 'until Ctrl-C']],
  run(context, _values, output) {
    refuseOpenFolder(context);
    return runDaemon(context, { places: ownPlaces(context), report: createStateReport(context) }, output);
  },
});

export const stopCommand = defineCommand({
  name: 'stop',
  summary: 'stop the daemon',
  description:
    'Stops `capture run`, however it was started, and waits until it has ended. Sessions that agents write meanwhile are captured when ' +
    'it runs again; `capture skip` leaves one out for good. capture starts again at your next sign-in; `capture uninstall` ' +
    'prevents that.',
  examples: [['capture stop', 'until `capture restart`']],
  async run(context, _values, output) {
    const stopped = await stopDaemon(stateFolder(context));
    output.answer({ stopped, running: false }, [
      stopped ? 'The daemon is stopped. `capture restart` starts it again.' : 'The daemon was not running.',
    ]);
  },
});

export const restartCommand = defineCommand({
  name: 'restart',
  summary: 'stop and start the daemon',
  description:
    'Restarts `capture run`, for example after an update. Uses systemd, launchd or Task Scheduler if `capture init` set that up.',
  examples: [['capture restart', 'starts it if it is not running']],
  async run(context, _values, output) {
    const state = stateFolder(context);
    const stopped = await stopDaemon(state);
    await restartDaemon(context);
    const daemon = findDaemon(state);
    if (daemon === undefined) {
      throw new Failure(EXIT.failure, 'The daemon did not start.', '`capture run` shows why.');
    }
    output.answer({ stopped, running: true, pid: daemon.pid }, [
      `The daemon is running${stopped ? ' again' : ''}, as process ${daemon.pid}.`,
    ]);
  },
});
