import { EXIT } from './failure.ts';

const EXIT_CODES: { [name in keyof typeof EXIT]: string } = {
  ok: 'done',
  failure: 'it failed; the message says why, and what to do about it',
  usage: 'not understood, or a file that is named is wrong; nothing was done',
  signInRequired: 'a sign-in is needed; what was captured is kept',
  temporary: 'try again later: the service cannot be reached or is busy; nothing is lost',
};

const VARIABLES = {
  CAPTURE_URL: 'address of the service, before the stored one',
  CAPTURE_SECRET: 'organization secret, before the stored one',
  CAPTURE_HOME: "folder of capture's own state; ~/.capture without it",
  NO_COLOR: 'no colours; FORCE_COLOR=1: colours without a terminal too',
  'NODE_USE_ENV_PROXY=1': 'go through the proxy of HTTPS_PROXY, HTTP_PROXY and NO_PROXY',
  NODE_EXTRA_CA_CERTS: 'a file with certificates to trust besides the usual ones',
};

/** What holds for every command: the variables it reads and the exit codes, as lines below the program's help. */
export const describeSurroundings = (): string =>
  [
    '',
    'Variables:',
    ...Object.entries(VARIABLES).map(([name, about]) => `  ${name.padEnd(22)}${about}`),
    '',
    'Exit codes:',
    ...Object.entries(EXIT_CODES).map(
      ([name, about]) => `  ${String(EXIT[name as keyof typeof EXIT]).padEnd(4)}${about}`,
    ),
    '',
  ].join('\n');
