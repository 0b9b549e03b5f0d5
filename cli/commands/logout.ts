import type { Command } from 'commander';
import { removeSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { withExamples } from '../help/examples.ts';
import type { Output } from '../output.ts';

export function addLogout(program: Command, run: (options: object) => Promise<void>): void {
  withExamples(program.command('logout'), [['capture logout', 'before this machine is given away']])
    .summary('forget the secret')
    .description('Forgets the stored secret. What was captured and not sent yet is kept.')
    .action(run);
}

export async function runLogout(context: Context, _options: object, output: Output): Promise<void> {
  const removed = removeSettings(context);
  output.answer({ signedOut: removed }, [
    removed ? 'Signed out.' : 'You were not signed in.',
    ...(context.variables.CAPTURE_SECRET ? ['CAPTURE_SECRET is set, and goes on being used.'] : []),
    `What was not sent yet stays in ${stateFolder(context)}.`,
  ]);
}
