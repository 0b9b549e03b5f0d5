import { defineCommand } from '../command.ts';
import { requireSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { askService } from '../inspect/service.ts';
import type { Output } from '../output.ts';

export const whoamiCommand = defineCommand({
  name: 'whoami',
  summary: 'say whom this machine captures for',
  description:
    'Asks the service whose the secret is. Ends with 4 where nobody is signed in or the secret is refused, and with 75 ' +
    'where the service cannot be reached.',
  examples: [['capture whoami', 'organization, plane and address']],
  run: runWhoami,
});

async function runWhoami(context: Context, _values: object, output: Output): Promise<void> {
  const settings = requireSettings(context);
  const { url } = settings;
  const { answer, secret, account, trouble } = await askService(context, settings);
  if (answer !== 'yes') {
    throw new Failure(EXIT.temporary, `The service at ${url} cannot be reached: ${trouble}`, 'See `capture doctor`.');
  }
  if (secret !== 'accepted' || account === undefined) {
    throw new Failure(EXIT.signInRequired, 'The service refuses the secret.', 'Sign in with `capture login`.');
  }
  const { organizationName, plane } = account;
  output.answer({ url, organizationName, plane }, [
    `${organizationName ?? 'An organization'}, ${plane} plane, at ${url}`,
  ]);
}
