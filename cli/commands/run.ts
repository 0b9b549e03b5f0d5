import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { runDaemon } from '../daemon/daemon.ts';
import { claimHome } from '../daemon/same-home.ts';
import { EXIT, Failure } from '../failure.ts';
import { type Lock, takeLock } from '../lock.ts';
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

export async function runDaemonCommand(context: Context, _options: object, output: Output): Promise<void> {
  const pipeline = await openPipeline(context, { recalls: true });
  const lock = takeLock(pipeline.folder, 'run');
  let home: Lock | undefined;
  try {
    if (lock === undefined) {
      throw new Failure(EXIT.failure, '`capture run` is running already.', 'See `capture status`.');
    }
    home = claimHome(context, pipeline.account);
  } catch (error) {
    pipeline.spool.close();
    lock?.release();
    throw error;
  }
  try {
    await runDaemon(context, { pipeline, places: ownPlaces(context) }, output);
  } finally {
    home?.release();
    lock.release();
  }
}
