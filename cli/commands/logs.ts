import { defineCommand } from '../command.ts';
import { stateFolder } from '../config.ts';
import { logPaths, readLog } from '../daemon/log.ts';

const LATEST = 50;

export const logsCommand = defineCommand({
  name: 'logs',
  summary: 'show what the daemon said',
  description:
    `Prints the latest ${LATEST} lines of the daemon's log, each a time, a level and a sentence, and says which file it is. ` +
    'It holds nothing out of transcripts.',
  examples: [['capture logs', 'the latest lines']],
  async run(context, _values, output) {
    const folder = stateFolder(context);
    const path = logPaths(folder).current;
    const lines = readLog(folder).slice(-LATEST);
    output.answer({ path, lines }, lines);
    output.say(lines.length > 0 ? `From ${path}` : 'The daemon has said nothing yet. `capture restart` starts it.');
  },
});
