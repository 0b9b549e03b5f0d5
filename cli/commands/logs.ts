import { count, defineCommand, flag } from '../command.ts';
import { stateFolder } from '../config.ts';
import { followLog, type LogLine, readLog } from '../daemon/log.ts';
import { toPlainText } from '../terminal.ts';

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
    lines: count('-n, --lines <number>', 'how many lines to begin with', 50),
  },
  async run(context, { follow, lines: most }, output) {
    const folder = stateFolder(context);
    const lines = most === 0 ? [] : readLog(folder).slice(-most);
    if (!follow) {
      if (lines.length === 0 && most > 0) output.say('The daemon has said nothing yet. `capture restart` starts it.');
      return output.answer({ lines }, lines.map(toText));
    }
    const show = (line: LogLine) =>
      void context.stdout.write(`${output.json ? JSON.stringify(line) : toPlainText(toText(line))}\n`);
    for (const line of lines) show(line);
    await followLog(folder, show, context.stop);
  },
});

const toText = ({ time, level, sentence }: LogLine): string =>
  [time, level === 'warn' ? 'warning' : level, sentence].filter((part) => part !== undefined).join('  ');
