import { defineCommand } from '../command.ts';
import { stateFolder } from '../config.ts';
import { logPaths, readLog } from '../daemon/log.ts';

const LATEST = 50;

export const logsCommand = defineCommand({
  name: 'logs',
  summary: 'show the log of the daemon',
  description: `Prints the last ${LATEST} lines of the daemon's log, and the path of its file. The log holds nothing from transcripts.`,
  examples: [['capture logs', 'the latest lines']],
  async run(context, _values, output) {
    const folder = stateFolder(context);
    const path = logPaths(folder).current;
    const lines = readLog(folder).slice(-LATEST);
    output.answer({ path, lines }, lines);
    output.say(lines.length > 0 ? `From ${path}` : 'The log is empty. `capture restart` starts the daemon.');
  },
});
