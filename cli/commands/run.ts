import { defineCommand } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { becomeDaemon, claimHome } from '../daemon/control.ts';
import { runDaemon } from '../daemon/daemon.ts';
import type { Lock } from '../lock.ts';
import type { Output } from '../output.ts';
import { openPipeline } from '../pipeline.ts';
import { ownPlaces } from '../read/places.ts';

export const runCommand = defineCommand({
  name: 'run',
  summary: 'capture while the agents work',
  description: 'Captures what the agents write, as they write it, until it is told to stop. Runs in the foreground.',
  examples: [['capture run', 'until Ctrl-C']],
  run: runDaemonCommand,
});

async function runDaemonCommand(context: Context, _options: object, output: Output): Promise<void> {
  const lock = await becomeDaemon(stateFolder(context), context);
  let home: Lock | undefined;
  try {
    const pipeline = await openPipeline(context, { recalls: true });
    try {
      home = claimHome(context, pipeline.account);
    } catch (error) {
      pipeline.spool.close();
      throw error;
    }
    await runDaemon(context, { pipeline, places: ownPlaces(context) }, output);
  } finally {
    home?.release();
    lock.release();
  }
}
