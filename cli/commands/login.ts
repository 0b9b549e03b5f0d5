import { type Account, askAccount } from '../account.ts';
import { defineCommand, flag, text } from '../command.ts';
import { DEFAULT_URL, readSettings, stateFolder, writeSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { askHidden, readInput } from '../prompt.ts';
import { findService, unreachable } from '../setup/service-address.ts';
import { explainRefusal, hasStatus, isTemporary } from '../upload/problem.ts';
import { createService } from '../upload/service.ts';

export interface LoginOptions {
  url: string | undefined;
  secretStdin: boolean;
}

const TIMEOUT_MS = 15_000;

export const loginCommand = defineCommand({
  name: 'login',
  summary: 'sign this machine in with an organization secret',
  description: 'Checks an organization secret with the service and stores it, readable by you only.',
  examples: [
    ['capture login --url https://capture.example.com', 'asks for the secret'],
    ['capture login --secret-stdin < secret.txt', 'where nobody can be asked'],
  ],
  options: {
    url: text(
      '--url <address>',
      `address of the service, or of any page of its dashboard (default: $CAPTURE_URL, the last one, or ${DEFAULT_URL})`,
    ),
    secretStdin: flag(
      '--secret-stdin',
      'read the secret from standard input; else it is asked for, or taken from $CAPTURE_SECRET',
    ),
  },
  run: runLogin,
});

export async function runLogin(context: Context, options: LoginOptions, output: Output): Promise<void> {
  const url = await findService(context, options.url ?? readSettings(context).url ?? DEFAULT_URL);
  if (isExposed(url)) output.warn(`${url} is not encrypted: anyone on the way can read the secret.`);
  const secret = await readSecret(context, options);
  const account = await verify(context, url, secret);
  writeSettings(context, { url, secret });
  const { organizationName, plane } = account;
  output.answer({ url, organizationName, plane, stateFolder: stateFolder(context) }, [
    `Signed in to ${organizationName ?? url} (${plane} plane).`,
    'Next: `capture init` sets this machine up.',
  ]);
}

async function readSecret(context: Context, { secretStdin }: LoginOptions): Promise<string> {
  const secret = secretStdin
    ? await readInput(context)
    : context.variables.CAPTURE_SECRET ||
      (context.stdin.isTTY ? await askHidden('Organization secret (it is not shown): ', context) : '');
  if (secret === '') {
    throw new Failure(
      EXIT.usage,
      'No organization secret was given.',
      'Pipe it in with --secret-stdin, or set CAPTURE_SECRET. An administrator issues one on the secrets page.',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new Failure(EXIT.usage, 'That is no organization secret.', 'It begins with sk_live_ or sk_test_.');
  }
  return secret;
}

async function verify(context: Context, url: string, secret: string): Promise<Account> {
  const service = createService({ url, secret, fetch: context.fetch, timeoutMs: TIMEOUT_MS });
  try {
    return await askAccount(service);
  } catch (error) {
    if (isTemporary(error)) throw unreachable(url, error);
    if (!hasStatus(error, 404, 405)) throw explainRefusal(error);
    throw new Failure(
      EXIT.failure,
      `The service at ${url} is of an older version, and cannot say whose this secret is.`,
      'Ask its operator to upgrade it. Nothing was stored.',
      error,
    );
  }
}

const isExposed = (url: string) =>
  url.startsWith('http:') && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);
