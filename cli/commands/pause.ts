import { defineCommand, text } from '../command.ts';
import { stateFolder, writeJson } from '../config.ts';
import type { Context } from '../context.ts';
import { isDaemonRunning } from '../daemon/control.ts';
import { pausedPath } from '../daemon/pause.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatMoment } from '../inspect/daemon.ts';
import { formatAge, type Output } from '../output.ts';

export interface PauseOptions {
  for: string | undefined;
}

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
  options: { for: text('--for <time>', 'end by itself after that time, such as 30m, 2h or 1d') },
  run: runPause,
});

export async function runPause(context: Context, options: PauseOptions, output: Output): Promise<void> {
  const folder = stateFolder(context);
  const now = context.now();
  const length = options.for === undefined ? Number.NaN : readLength(options.for);
  const since = new Date(now).toISOString();
  const until = options.for === undefined ? undefined : new Date(now + length).toISOString();
  writeJson(pausedPath(folder), { since, ...(until && { until }) });
  const running = isDaemonRunning(folder);
  const sentence = until
    ? `Paused for ${formatAge(length)}, until ${formatMoment(until)}.`
    : 'Paused until `capture resume`.';
  output.answer({ paused: true, since, ...(until && { until }), running }, [
    `${sentence} What the agents write meanwhile is captured afterwards.`,
    ...(running ? [] : ['The daemon does not run: the pause holds once it does.']),
  ]);
}

const UNITS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readLength(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  const length = Number(number) * (UNITS[unit] ?? 0);
  if (length > 0) return length;
  throw new Failure(EXIT.usage, `--for does not take ${text}.`, 'It takes a time like 30m, 2h or 1d.');
}
