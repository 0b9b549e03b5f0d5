import { rmSync } from 'node:fs';
import { defineCommand, readLength, text } from '../command.ts';
import { stateFolder, writeJson } from '../config.ts';
import { holderOf, isDaemonRunning, stopDaemon } from '../daemon/control.ts';
import { runDaemon } from '../daemon/daemon.ts';
import { isPaused, pausedPath } from '../daemon/pause.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatAge, formatMoment } from '../output.ts';
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
    'runs again. It does not keep it from being started at the next sign-in: that is `capture uninstall`.',
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

export const pauseCommand = defineCommand({
  name: 'pause',
  summary: 'stop reading and sending for a while',
  description:
    'Has the daemon read and send nothing. A pause delays: what the agents write meanwhile is captured afterwards, from ' +
    'their transcripts. To leave a session out for good, see `capture skip`.',
  examples: [
    ['capture pause', 'until `capture resume`'],
    ['capture pause --for 2h', 'for two hours'],
  ],
  takes: { for: text('--for <time>', 'end by itself after that time, such as 30m, 2h or 1d') },
  async run(context, options, output) {
    const state = stateFolder(context);
    const now = context.now();
    const length = options.for === undefined ? undefined : readLength(options.for);
    if (options.for !== undefined && !length) {
      throw new Failure(EXIT.usage, `--for does not take ${options.for}.`, 'It takes a time like 30m, 2h or 1d.');
    }
    const times = {
      since: new Date(now).toISOString(),
      ...(length !== undefined && { until: new Date(now + length).toISOString() }),
    };
    writeJson(pausedPath(state), times);
    const running = isDaemonRunning(state);
    const sentence =
      length !== undefined && times.until
        ? `Paused for ${formatAge(length)}, until ${formatMoment(times.until)}.`
        : 'Paused until `capture resume`.';
    output.answer({ paused: true, ...times, running }, [
      `${sentence} What the agents write meanwhile is captured afterwards.`,
      ...(running ? [] : ['The daemon does not run: the pause holds once it does.']),
    ]);
  },
});

export const resumeCommand = defineCommand({
  name: 'resume',
  summary: 'end a pause',
  description: 'Has the daemon go on. It notices within two seconds, and captures what was written meanwhile.',
  examples: [['capture resume', 'ends `capture pause`']],
  async run(context, _values, output) {
    const state = stateFolder(context);
    const wasPaused = isPaused(state, context.now());
    rmSync(pausedPath(state), { force: true });
    const running = isDaemonRunning(state);
    output.answer({ paused: false, wasPaused, running }, [
      wasPaused ? 'The pause is over.' : 'Capture was not paused.',
      ...(running ? [] : ['The daemon does not run: `capture restart` starts it.']),
    ]);
  },
});
