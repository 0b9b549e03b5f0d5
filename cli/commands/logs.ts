import { defineCommand, flag, value } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { followLog, type LogLine, readLog } from '../daemon/read-log.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { toPlainText } from '../terminal.ts';

export interface LogsOptions {
  follow: boolean;
  lines: number;
}

export const logsCommand = defineCommand({
  name: 'logs',
  summary: 'show what the daemon said',
  description:
    'Prints the log of the daemon: a time, a level and a sentence a line. It holds nothing out of transcripts. With -f ' +
    'and --json together, an object a line.',
  examples: [
    ['capture logs', 'the latest lines'],
    ['capture logs -f', 'and what comes, until Ctrl-C'],
    ['capture logs -n 500 --json', 'for programs'],
  ],
  options: {
    follow: flag('-f, --follow', 'go on with what comes, until Ctrl-C'),
    lines: value('-n, --lines <number>', 'how many lines to begin with', toCount, 50),
  },
  run: runLogs,
});

export async function runLogs(context: Context, { follow, lines: count }: LogsOptions, output: Output): Promise<void> {
  const folder = stateFolder(context);
  const lines = count === 0 ? [] : readLog(folder).slice(-count);
  if (!follow) {
    if (lines.length === 0 && count > 0) output.say('The daemon has said nothing yet. `capture run` starts it.');
    return output.answer({ lines }, lines.map(toText));
  }
  const tell = (line: LogLine) => void context.stdout.write(output.json ? `${JSON.stringify(line)}\n` : shown(line));
  for (const line of lines) tell(line);
  await followLog(folder, { onLine: tell, signal: context.stop });
}

const toText = ({ time, level, sentence }: LogLine): string =>
  [time, level === 'warn' ? 'warning' : level, sentence].filter((part) => part !== undefined).join('  ');

const shown = (line: LogLine) => `${toPlainText(toText(line))}\n`;

function toCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new Failure(EXIT.usage, `--lines takes a number, not ${text}.`);
}
