import { defineCommand } from '../command.ts';
import { removeSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output.ts';

export const logoutCommand = defineCommand({
  name: 'logout',
  summary: 'forget the secret',
  description: 'Forgets the stored secret. What was captured and not sent yet is kept.',
  examples: [['capture logout', 'before this machine is given away']],
  run: runLogout,
});

export async function runLogout(context: Context, _options: object, output: Output): Promise<void> {
  const removed = removeSettings(context);
  output.answer({ signedOut: removed }, [
    removed ? 'Signed out.' : 'You were not signed in.',
    ...(context.variables.CAPTURE_SECRET ? ['CAPTURE_SECRET is set, and goes on being used.'] : []),
    `What was not sent yet stays in ${stateFolder(context)}.`,
  ]);
}
