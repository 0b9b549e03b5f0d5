import { defineCommand } from '../command.ts';
import { runDaemon } from '../daemon/daemon.ts';
import { ownPlaces } from '../read/places.ts';
import { refuseOpenFolder } from '../setup/state-folder.ts';

export const runCommand = defineCommand({
  name: 'run',
  summary: 'capture while the agents work',
  description: 'Captures what the agents write, as they write it, until it is told to stop. Runs in the foreground.',
  examples: [['capture run', 'until Ctrl-C']],
  run(context, _options, output) {
    refuseOpenFolder(context);
    return runDaemon(context, { places: ownPlaces(context) }, output);
  },
});
