import { type Account, askAccount } from '../account.ts';
import { defineCommand, flag, text } from '../command.ts';
import { DEFAULT_URL, readSettings, removeSecret, type Settings, stateFolder, writeSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { isLocal } from '../dashboard.ts';
import { EXIT, Failure, SecretRefused } from '../failure.ts';
import { askHidden, readInput } from '../prompt.ts';
import { signInByDevice } from '../setup/device-sign-in.ts';
import { explainTrouble, findService, SIGN_IN_MS } from '../setup/service-address.ts';
import { refuseOpenFolder } from '../setup/state-folder.ts';
import { createService } from '../upload/service.ts';

export const loginCommand = defineCommand({
  name: 'login',
  summary: 'sign this machine in, through the browser or with an organization secret',
  description:
    'Opens the page of the dashboard where you confirm this machine, and stores the secret that the service issues, ' +
    'readable only by you. If you give a secret, capture checks and stores that one instead.',
  examples: [
    ['capture login', 'signs in through the browser'],
    ['capture login --no-browser', 'only prints the address, for a browser on another machine'],
    ['capture login --ask-secret', 'asks for a secret instead'],
    ['capture login --secret-stdin < secret.txt', 'reads the secret without a terminal'],
  ],
  takes: {
    url: text(
      '--url <address>',
      `address of the service, or of any page of its dashboard (default: $CAPTURE_URL, the last one, or ${DEFAULT_URL})`,
    ),
    browser: flag('--no-browser', 'open no browser'),
    askSecret: flag('--ask-secret', 'ask for the secret'),
    secretStdin: flag('--secret-stdin', 'read the secret from standard input (default: $CAPTURE_SECRET, if set)'),
  },
  async run(context, options, output) {
    refuseOpenFolder(context);
    const url = await findService(context, options.url ?? readSettings(context).url ?? DEFAULT_URL);
    if (url.startsWith('http:') && !isLocal(url)) {
      output.warn(`${url} is not encrypted: anyone on the network path can read the secret.`);
    }
    const given = await givenSecret(context, options);
    const { secret, organizationName, plane } =
      given === undefined
        ? await signInByDevice(context, url, options.browser)
        : { secret: given, ...(await findOwner(context, { url, secret: given }, 'Nothing was stored.')) };
    writeSettings(context, { url, secret });
    output.answer({ url, organizationName, plane, stateFolder: stateFolder(context) }, [
      `Signed in to ${organizationName ?? url} (${plane} plane).`,
      // The installation script runs `capture init` next, so this hint would be wrong there.
      ...(context.variables.CAPTURE_SETUP === 'yes' ? [] : ['Next: `capture init` sets this machine up.']),
    ]);
  },
});

/** Reads the secret that the person gave. @returns undefined where the person signs in through the browser */
async function givenSecret(context: Context, options: { secretStdin: boolean; askSecret: boolean }) {
  if (options.secretStdin) return checkSecret(await readInput(context));
  if (options.askSecret) {
    return checkSecret(context.stdin.isTTY ? await askHidden('Organization secret (it is not shown): ', context) : '');
  }
  const { CAPTURE_SECRET } = context.variables;
  return CAPTURE_SECRET ? checkSecret(CAPTURE_SECRET) : undefined;
}

function checkSecret(secret: string): string {
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new Failure(
    EXIT.usage,
    secret === '' ? 'No organization secret was given.' : 'That is not an organization secret. It must begin with sk_.',
    'Pipe it in with --secret-stdin, or set CAPTURE_SECRET. An administrator issues one on the secrets page.',
  );
}

/** Asks the service which account a secret belongs to. */
async function findOwner({ fetch, variables }: Context, settings: Settings, soFar: string): Promise<Account> {
  try {
    return await askAccount(createService({ ...settings, fetch, timeoutMs: SIGN_IN_MS }));
  } catch (error) {
    const explained = explainTrouble(settings.url, error, soFar);
    if (!(explained instanceof SecretRefused) || settings.secret === variables.CAPTURE_SECRET) throw explained;
    const hint = `Check the secret that you gave: an administrator sees on the secrets page which ones are valid. ${soFar}`;
    throw new Failure(EXIT.signInRequired, explained.message, hint, error);
  }
}

export const logoutCommand = defineCommand({
  name: 'logout',
  summary: 'sign this machine out',
  description:
    'Deletes the stored secret. Keeps the address for the next sign-in, and the events that wait to be sent.',
  examples: [['capture logout', 'before you give this machine away']],
  async run(context, _values, output) {
    const signedOut = removeSecret(context);
    output.answer({ signedOut }, [
      signedOut ? 'Signed out.' : 'You were not signed in.',
      ...(context.variables.CAPTURE_SECRET ? ['CAPTURE_SECRET is still set, so it is still used.'] : []),
      `Events that were not sent yet stay in ${stateFolder(context)}.`,
    ]);
  },
});
