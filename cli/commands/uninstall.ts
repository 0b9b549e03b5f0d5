import { join } from 'node:path';
import { defineCommand, flag } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatCount, type Output } from '../output.ts';
import { createAsker } from '../setup/ask.ts';
import { removeDaemon } from '../setup/daemon.ts';
import { listRemains, purge } from '../setup/remains.ts';
import { removeScript } from '../setup/script-file.ts';
import { describeUndone, restoreAll } from '../setup/undo.ts';

export interface UninstallOptions {
  purge: boolean;
  yes: boolean;
}

export const uninstallCommand = defineCommand({
  name: 'uninstall',
  summary: 'take the hooks and the daemon away again',
  description:
    "Undoes `capture init`: the agents' settings are byte for byte as before, or lose our entries alone where they were " +
    'changed since. Stops and removes the daemon. Keeps the sign-in and what was not sent yet.',
  examples: [
    ['capture uninstall', 'undoes `capture init`'],
    ['capture uninstall --purge', 'and deletes all that capture keeps on this machine'],
  ],
  options: {
    purge: flag('--purge', 'delete the sign-in, what was not sent yet and all else that capture keeps here, too'),
    yes: flag('--yes', 'with --purge: do not ask'),
  },
  run: runUninstall,
});

export async function runUninstall(context: Context, options: UninstallOptions, output: Output): Promise<void> {
  const state = stateFolder(context);
  if (options.purge) await confirmPurge(context, options, output);
  const files = restoreAll(context);
  const daemon = await removeDaemon(context);
  const left = files.filter(({ outcome }) => outcome === 'left');
  if (left.length === 0) removeScript(context);
  const isPurged = options.purge && left.length === 0 && !daemon.running;
  const isGone = isPurged && purge(state);
  const remains = isPurged ? [] : listRemains(state);
  output.answer({ files, daemon, stateFolder: state, purged: isPurged, remains }, [
    ...files.map(describeUndone),
    ...daemon.removed.map((path) => `${path} is removed.`),
    ...(daemon.stopped ? ['The daemon has ended.'] : []),
    ...(files.length + daemon.removed.length === 0 ? ['Nothing was installed.'] : []),
    ...(remains.length > 0 ? ['What is kept:', ...remains.map(indent)] : []),
    ...(remains.length > 0 ? ['`capture uninstall --purge` deletes that, too.'] : []),
    ...(isPurged ? [isGone ? `${state} is deleted.` : `All of capture's own in ${state} is deleted.`] : []),
  ]);
  if (daemon.running) output.warn('A `capture run` is still running. End it where it was started.');
  if (left.length > 0) {
    const sentence = `${formatCount(left.length, 'file')} could not be put right.`;
    throw new Failure(EXIT.failure, sentence, `Take the entries that run ${join(state, 'bin')} out by hand.`);
  }
  if (options.purge && !isPurged) throw new Failure(EXIT.failure, 'Nothing was purged.', 'Run it again after that.');
}

async function confirmPurge(context: Context, { yes }: UninstallOptions, output: Output): Promise<void> {
  if (yes) return;
  if (!context.stdin.isTTY) {
    throw new Failure(EXIT.usage, 'There is no terminal to ask on.', 'Give --yes, and nothing is asked.');
  }
  output.say('Besides the hooks and the daemon, this deletes:');
  for (const what of listRemains(stateFolder(context))) output.say(indent(what));
  const asker = createAsker(context);
  const isWanted = await asker.ask('Delete it for good?').finally(asker.close);
  if (!isWanted) throw new Failure(EXIT.failure, 'Nothing was changed.', 'Without --purge it all stays.');
}

const indent = (line: string): string => `  ${line}`;
