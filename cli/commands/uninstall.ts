import { join } from 'node:path';
import type { Command } from 'commander';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { withExamples } from '../help/examples.ts';
import { formatCount, type Output } from '../output.ts';
import { removeDaemon } from '../setup/daemon.ts';
import { removeScript } from '../setup/script-file.ts';
import { describeUndone, restoreAll } from '../setup/undo.ts';

export function addUninstall(program: Command, run: (options: object) => Promise<void>): void {
  withExamples(program.command('uninstall'), [['capture uninstall', 'undoes `capture init`']])
    .summary('take the hooks and the daemon away again')
    .description(
      "Undoes `capture init`: the agents' settings are byte for byte as before, or lose our entries alone where they were " +
        'changed since. Stops and removes the daemon. Keeps the sign-in and what was not sent yet.',
    )
    .action(run);
}

export async function runUninstall(context: Context, _options: object, output: Output): Promise<void> {
  const state = stateFolder(context);
  const files = restoreAll(context);
  const daemon = await removeDaemon(context);
  const left = files.filter(({ outcome }) => outcome === 'left');
  if (left.length === 0) removeScript(context);
  output.answer({ files, daemon, stateFolder: state }, [
    ...files.map(describeUndone),
    ...daemon.removed.map((path) => `${path} is removed.`),
    ...(daemon.stopped ? ['The daemon has ended.'] : []),
    ...(files.length + daemon.removed.length === 0 ? ['Nothing was installed.'] : []),
    `What was captured and not sent yet stays in ${join(state, 'spool.db')}, and the sign-in beside it.`,
  ]);
  if (daemon.running) output.warn('A `capture run` is still running. End it where it was started.');
  if (left.length > 0) {
    const sentence = `${formatCount(left.length, 'file')} could not be put right.`;
    throw new Failure(EXIT.failure, sentence, `Take the entries that run ${join(state, 'bin')} out by hand.`);
  }
}
