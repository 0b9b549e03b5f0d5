import { existsSync } from 'node:fs';
import { formatCount } from '../../contract/count.ts';
import { defineCommand, flag } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { type Edited, findHooks, removeHooks } from '../hooks/install.ts';
import { removeScript, scriptPath } from '../hooks/script.ts';
import { confirm } from '../prompt.ts';
import { removeDaemon } from '../setup/daemon.ts';
import { purge } from '../setup/state-folder.ts';

export const uninstallCommand = defineCommand({
  name: 'uninstall',
  summary: 'stop capturing, and undo `capture init`',
  description:
    "Undoes `capture init`: stops capture, removes its automatic start, and restores the agents' settings exactly. If they were " +
    'changed since, only the entries of capture are removed. Keeps the sign-in and the events that wait to be sent.',
  examples: [
    ['capture uninstall', 'undoes `capture init`'],
    ['capture uninstall --purge', 'also deletes everything capture keeps on this machine'],
  ],
  takes: {
    purge: flag(
      '--purge',
      'also delete the sign-in, the events that wait to be sent, and everything else that capture keeps here',
    ),
    yes: flag('--yes', 'with --purge: do not ask'),
  },
  async run(context, options, output) {
    const state = stateFolder(context);
    if (options.purge && !options.yes) {
      await confirm(context, output, {
        lines: [
          `This undoes \`capture init\`, and deletes everything that capture keeps in ${state}: ${KEPT}.`,
          'Unsent events are lost. Sent events stay at the service.',
        ],
        question: 'Delete it for good?',
      });
    }
    const daemon = await removeDaemon(context);
    const files = removeAllHooks(context);
    const left = files.filter(({ change }) => change === 'left').length;
    if (left === 0) removeScript(context);
    const isPurged = options.purge && left === 0;
    const isGone = isPurged && purge(state);
    const isNothing = files.length + daemon.removed.length === 0 && !daemon.stopped && !daemon.wasSetUp;
    output.answer({ files, daemon, stateFolder: state, purged: isPurged }, [
      ...files.map(({ path, change, reason }) => `${path} ${CHANGES[change]}${reason ? `: ${reason}` : ''}.`),
      ...daemon.removed.map((path) => `${path} is removed.`),
      ...(daemon.stopped ? ['capture is stopped.'] : []),
      ...(daemon.wasSetUp && !daemon.stopped ? ['capture was already stopped, and no longer starts by itself.'] : []),
      ...(isNothing && !isPurged ? ['Nothing was installed.'] : []),
      ...(!isPurged && existsSync(state)
        ? [`Kept in ${state}: ${KEPT}. \`capture uninstall --purge\` deletes it.`]
        : []),
      ...(isPurged ? [isGone ? `${state} is deleted.` : `All files of capture in ${state} are deleted.`] : []),
      ...(isPurged ? [`Only the program itself is left: ${context.program.at(-1)}`] : []),
    ]);
    if (left === 0) return;
    throw new Failure(
      EXIT.failure,
      `${formatCount(left, 'file')} could not be restored.${options.purge ? ' Nothing was purged.' : ''}`,
      `Remove the entries that run ${scriptPath(context)} by hand, then run this again.`,
    );
  },
});

const removeAllHooks = (context: Context): Edited[] =>
  findHooks(context)
    .map((wanted) => removeHooks(context, wanted))
    .filter(({ change }) => change !== 'none');

const CHANGES: { readonly [change in Edited['change']]?: string } = {
  restored: 'is as it was before',
  cleaned: 'was changed since; only the entries of capture were removed',
  removed: 'is removed',
  left: 'is left alone',
};

const KEPT =
  'the sign-in, your preferences, your decisions about sessions, the unsent events of each account, and unmasked notes ' +
  "of Cursor's hooks that were not captured yet";
